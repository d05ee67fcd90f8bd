import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A proxy to a Redis. A test can cut it without effect on others. */
export interface RedisProxy {
  readonly url: string;
  /** Keeps connections but stops answering, like a server that hangs. */
  hang(): void;
  /** Cuts all connections and accepts no more, like a killed server. */
  kill(): Promise<void>;
  /** Listens again on the same port. */
  revive(): Promise<void>;
}

/** Starts a proxy in front of the Redis at `url` on a free port. */
export async function startRedisProxy(url: string): Promise<RedisProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isHanging = false;
  const server = createServer((near) => {
    sockets.add(near);
    near.on("error", () => {});
    // New connections to a hanging server get no answer either.
    if (isHanging) return;
    const far = connect(Number(port || 6379), hostname);
    sockets.add(far);
    far.on("error", () => {});
    near.on("close", () => far.destroy());
    far.on("close", () => near.destroy());
    near.pipe(far).pipe(near);
  });
  const listen = async (on: number) => {
    server.listen(on, "127.0.0.1");
    await once(server, "listening");
    return (server.address() as AddressInfo).port;
  };
  const own = await listen(0);
  const cut = () => {
    for (const socket of sockets) socket.destroy();
    sockets.clear();
  };
  return {
    url: `redis://127.0.0.1:${own}`,
    hang() {
      isHanging = true;
      for (const socket of sockets) socket.unpipe().pause();
    },
    async kill() {
      const closed = once(server, "close");
      server.close();
      cut();
      await closed;
    },
    async revive() {
      isHanging = false;
      cut();
      if (!server.listening) await listen(own);
    },
  };
}
