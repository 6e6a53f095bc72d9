-- A database in PostgreSQL that version 2 of the tables was used in: values of all scopes, secrets, deletions, history.
create table "settings_meta" (
  name text not null primary key,
  value text not null
);

create table "settings_value" (
  scope smallint not null check (scope in (0, 1, 2)),
  user_id text collate "C" not null default '',
  key text collate "C" not null,
  value text not null,
  sealed boolean not null default false,
  revision bigint not null,
  updated_at bigint not null,
  updated_by text,
  primary key (scope, user_id, key),
  constraint "settings_value_user" check ((scope = 2) = (user_id <> ''))
);

create table "settings_history" (
  revision bigint not null,
  scope smallint not null,
  user_id text collate "C" not null default '',
  key text collate "C" not null,
  old_value text,
  old_sealed boolean not null default false,
  new_value text,
  new_sealed boolean not null default false,
  origin text not null,
  actor text,
  request_id text,
  note text,
  at bigint not null,
  primary key (revision, scope, user_id, key)
);

create index "settings_history_key" on "settings_history" (key, scope, user_id, revision);



create index "settings_history_plain" on "settings_history" (key) where ((new_value is not null and not new_sealed) or (old_value is not null and not old_sealed));

insert into settings_meta values
  ('revision', '12'),
  ('schema', '2');
insert into settings_value values
  (0, '', 'mail.password', 'v1.k1.KeeMVCDQu-EdbgJH.RaSO94zEIWMm6jznbcjspg.PIzxrgZiwWKhYfotp26i', true, '3', '1795341293609', 'ann'),
  (0, '', 'mail.port', '25', false, '1', '1795341293519', 'ann'),
  (1, '', 'app.api_secret', 'v1.k1.6RZQU6SKELLeV-q3.5uv4SCeexHYIZkBmyoEeJQ.6GpNL0tYLnrfb0YofIaTHasevOs', true, '2', '1795341293566', 'ann'),
  (1, '', 'app.title', '"Acme Ltd"', false, '11', '1795341293938', 'ann'),
  (2, 'alice', 'app.theme', '"light"', false, '12', '1795341293955', 'alice'),
  (2, 'alice', 'user.token', 'v1.k1.qS0mxoC2JJHGKh_u.9fPrUjJlwi6YRTwbURsG4Q.tOCwa49aDSu1dyd8j95-L2k', true, '5', '1795341293745', 'alice'),
  (2, 'bob', 'app.theme', '"system"', false, '6', '1795341293776', 'admin');
insert into settings_history values
  ('1', 0, '', 'mail.port', null, false, '25', false, 'api', 'ann', 'req-ann', 'first', '1795341293519'),
  ('1', 1, '', 'app.title', null, false, '"Acme"', false, 'api', 'ann', 'req-ann', 'first', '1795341293519'),
  ('2', 1, '', 'app.api_secret', null, false, 'v1.k1.6RZQU6SKELLeV-q3.5uv4SCeexHYIZkBmyoEeJQ.6GpNL0tYLnrfb0YofIaTHasevOs', true, 'api', 'ann', 'req-ann', null, '1795341293566'),
  ('3', 0, '', 'mail.password', null, false, 'v1.k1.KeeMVCDQu-EdbgJH.RaSO94zEIWMm6jznbcjspg.PIzxrgZiwWKhYfotp26i', true, 'api', 'ann', 'req-ann', null, '1795341293609'),
  ('4', 2, 'alice', 'app.theme', null, false, '"dark"', false, 'api', 'alice', 'req-alice', null, '1795341293626'),
  ('5', 2, 'alice', 'user.token', null, false, 'v1.k1.qS0mxoC2JJHGKh_u.9fPrUjJlwi6YRTwbURsG4Q.tOCwa49aDSu1dyd8j95-L2k', true, 'api', 'alice', 'req-alice', null, '1795341293745'),
  ('6', 2, 'bob', 'app.theme', null, false, '"system"', false, 'api', 'admin', 'req-admin', 'on behalf', '1795341293776'),
  ('7', 1, '', 'app.banner', null, false, '"gone"', false, 'api', 'ann', 'req-ann', null, '1795341293845'),
  ('8', 1, '', 'app.banner', '"gone"', false, null, false, 'api', 'ann', 'req-ann', null, '1795341293882'),
  ('9', 2, 'bob', 'user.token', null, false, 'v1.k1.UndCNr7O9MgxoyWZ.BTt2kOKBtr_-87k-8NNbrw.LKzLQV064Xc8mA8N7rceSq9kSw', true, 'api', 'bob', 'req-bob', null, '1795341293898'),
  ('10', 2, 'bob', 'user.token', 'v1.k1.UndCNr7O9MgxoyWZ.BTt2kOKBtr_-87k-8NNbrw.LKzLQV064Xc8mA8N7rceSq9kSw', true, null, false, 'api', 'bob', 'req-bob', null, '1795341293909'),
  ('11', 1, '', 'app.title', '"Acme"', false, '"Acme Ltd"', false, 'api', 'ann', 'req-ann', null, '1795341293938'),
  ('12', 2, 'alice', 'app.theme', '"dark"', false, '"light"', false, 'api', 'alice', 'req-alice', null, '1795341293955');
