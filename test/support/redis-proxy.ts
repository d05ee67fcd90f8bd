import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/** A way to a Redis that can be lost without harm to others who use it. */
export interface RedisProxy {
  readonly url: string;
  /** Keeps connections and says nothing any more, as a server that hangs. */
  hang(): void;
  /** Cuts all connections and takes no more, as a server that was killed. */
  kill(): Promise<void>;
  /** Listens again where it did. */
  revive(): Promise<void>;
}

/** Starts a proxy before the Redis at `url` on a free port. */
export async function startRedisProxy(url: string): Promise<RedisProxy> {
  const { hostname, port } = new URL(url);
  const sockets = new Set<Socket>();
  let isHanging = false;
  const server = createServer((near) => {
    sockets.add(near);
    near.on("error", () => {});
    // Whoever connects to a server that hangs is not answered either.
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
