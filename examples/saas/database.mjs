// The tables of the product; settings and events keep their own in the same database.
const tables = `
  CREATE TABLE IF NOT EXISTS organisations (id text PRIMARY KEY, name text NOT NULL);
  CREATE TABLE IF NOT EXISTS members (
    organisation text REFERENCES organisations, person text, role text NOT NULL, PRIMARY KEY (organisation, person));
  CREATE TABLE IF NOT EXISTS invoices (
    id uuid PRIMARY KEY, organisation text NOT NULL REFERENCES organisations, customer text NOT NULL);
  CREATE TABLE IF NOT EXISTS bookings (
    event_id text PRIMARY KEY, invoice uuid NOT NULL REFERENCES invoices, copies text[] NOT NULL, reminder boolean NOT NULL);`

/** Creates what is missing. Of two processes that start together, one waits for the other. */
export const createTables = (pool) =>
  transaction(pool, async (client) => {
    await client.query('SELECT pg_advisory_xact_lock(48)')
    await client.query(tables)
  })

/** Commits what `run` has done with its client, or nothing. */
export async function transaction(pool, run) {
  const client = await pool.connect()
  try {
    await client.query('BEGIN')
    const result = await run(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK')
    throw error
  } finally {
    client.release()
  }
}
