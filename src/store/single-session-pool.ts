import pg from "pg";

/**
 * A pool over PGlite's only session. Other pools discard a connection after a failed statement. Here the next
 * connection would use the same session and read the remaining replies to the failed statement as its own. Therefore a
 * client always returns to the pool.
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
