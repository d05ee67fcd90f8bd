import pg from "pg";

/**
 * A pool over PGlite's one session. A pool throws a connection away when a statement on it fails, which is right for
 * a server but not here: the next connection would be made on the same session while the answers to the failed
 * statement are still on their way, and take them for its own. So a client always goes back into the pool.
 */
export class SingleSessionPool extends pg.Pool {
  override connect(): Promise<pg.PoolClient>;
  override connect(callback: ConnectCallback): void;
  override connect(callback?: ConnectCallback): Promise<pg.PoolClient> | undefined {
    if (callback === undefined) return super.connect().then(keepOnRelease);
    super.connect((error, client, done) => {
      callback(error, client && keepOnRelease(client), () => done());
    });
    return undefined;
  }
}

type ConnectCallback = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  done: () => void,
) => void;

function keepOnRelease(client: pg.PoolClient): pg.PoolClient {
  const release = client.release.bind(client);
  client.release = () => release();
  return client;
}
