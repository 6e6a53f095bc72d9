-- A database in SQLite that version 2 of the tables was used in: values of all scopes, secrets, deletions, history.
CREATE TABLE settings_meta (
  name text not null primary key,
  value text not null
) without rowid, strict;
CREATE TABLE settings_value (
  scope integer not null check (scope in (0, 1, 2)),
  user_id text not null default '',
  key text not null,
  value text not null,
  sealed integer not null default 0,
  revision integer not null,
  updated_at integer not null,
  updated_by text,
  primary key (scope, user_id, key),
  constraint settings_value_user check ((scope = 2) = (user_id <> ''))
) without rowid, strict;
CREATE TABLE settings_history (
  revision integer not null,
  scope integer not null,
  user_id text not null default '',
  key text not null,
  old_value text,
  old_sealed integer not null default 0,
  new_value text,
  new_sealed integer not null default 0,
  origin text not null,
  actor text,
  request_id text,
  note text,
  at integer not null,
  primary key (revision, scope, user_id, key)
) without rowid, strict;
CREATE INDEX settings_history_key on settings_history (key, scope, user_id, revision);
CREATE INDEX settings_history_plain on settings_history (key) where ((new_value is not null and new_sealed = 0) or (old_value is not null and old_sealed = 0));
insert into settings_meta values
  ('revision', '12'),
  ('schema', '2');
insert into settings_value values
  (0, '', 'mail.password', 'v1.k1.7d8reG_5PJMKOCC-.sPz56SrAbbqpIrxuz5dp3Q.hFmvs6UZibXY4kb7rxws', 1, 3, 1795341281626, 'ann'),
  (0, '', 'mail.port', '25', 0, 1, 1795341281547, 'ann'),
  (1, '', 'app.api_secret', 'v1.k1.4KzJjpm4RsaiO99l.Hyq1QxsPN9Fkh21LCAUR_A.l5gmC4yvixA7VHKaYbXIssxmC8g', 1, 2, 1795341281593, 'ann'),
  (1, '', 'app.title', '"Acme Ltd"', 0, 11, 1795341281850, 'ann'),
  (2, 'alice', 'app.theme', '"light"', 0, 12, 1795341281886, 'alice'),
  (2, 'alice', 'user.token', 'v1.k1.12td9t99YbapjQDZ.WStnt8IOGSJbd7RFBnfSJA.jL7gnQJigPXGIgJ05QUUmHQ', 1, 5, 1795341281677, 'alice'),
  (2, 'bob', 'app.theme', '"system"', 0, 6, 1795341281706, 'admin');
insert into settings_history values
  (1, 0, '', 'mail.port', null, 0, '25', 0, 'api', 'ann', 'req-ann', 'first', 1795341281547),
  (1, 1, '', 'app.title', null, 0, '"Acme"', 0, 'api', 'ann', 'req-ann', 'first', 1795341281547),
  (2, 1, '', 'app.api_secret', null, 0, 'v1.k1.4KzJjpm4RsaiO99l.Hyq1QxsPN9Fkh21LCAUR_A.l5gmC4yvixA7VHKaYbXIssxmC8g', 1, 'api', 'ann', 'req-ann', null, 1795341281593),
  (3, 0, '', 'mail.password', null, 0, 'v1.k1.7d8reG_5PJMKOCC-.sPz56SrAbbqpIrxuz5dp3Q.hFmvs6UZibXY4kb7rxws', 1, 'api', 'ann', 'req-ann', null, 1795341281626),
  (4, 2, 'alice', 'app.theme', null, 0, '"dark"', 0, 'api', 'alice', 'req-alice', null, 1795341281647),
  (5, 2, 'alice', 'user.token', null, 0, 'v1.k1.12td9t99YbapjQDZ.WStnt8IOGSJbd7RFBnfSJA.jL7gnQJigPXGIgJ05QUUmHQ', 1, 'api', 'alice', 'req-alice', null, 1795341281677),
  (6, 2, 'bob', 'app.theme', null, 0, '"system"', 0, 'api', 'admin', 'req-admin', 'on behalf', 1795341281706),
  (7, 1, '', 'app.banner', null, 0, '"gone"', 0, 'api', 'ann', 'req-ann', null, 1795341281719),
  (8, 1, '', 'app.banner', '"gone"', 0, null, 0, 'api', 'ann', 'req-ann', null, 1795341281763),
  (9, 2, 'bob', 'user.token', null, 0, 'v1.k1.uEGAfDxMw9TeTZpC.hzoFsFxIudUZ5nfR3C-buA.8-8XfedsQEcBuQq0oBS5_9shrw', 1, 'api', 'bob', 'req-bob', null, 1795341281772),
  (10, 2, 'bob', 'user.token', 'v1.k1.uEGAfDxMw9TeTZpC.hzoFsFxIudUZ5nfR3C-buA.8-8XfedsQEcBuQq0oBS5_9shrw', 1, null, 0, 'api', 'bob', 'req-bob', null, 1795341281810),
  (11, 1, '', 'app.title', '"Acme"', 0, '"Acme Ltd"', 0, 'api', 'ann', 'req-ann', null, 1795341281850),
  (12, 2, 'alice', 'app.theme', '"dark"', 0, '"light"', 0, 'api', 'alice', 'req-alice', null, 1795341281886);
