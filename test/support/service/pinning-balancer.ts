import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

/**
 * A balancer that always chooses the same replica for its client, as one that decides by address or cookie does. It
 * learns that the replica is gone from failed connections.
 */
export interface PinningBalancer {
  readonly url: string;
  /** The number of connections that failed because the replica was gone. */
  failedCount(): number;
  close(): Promise<void>;
}

/**
 * Starts a balancer on a free port. After `failuresMax` failed connections it chooses the next replica.
 * @param answer sent before a failed connection is closed, such as an HTTP reply. Default: nothing.
 */
export async function startPinningBalancer(
  replicaUrls: readonly string[],
  { failuresMax, answer = "" }: { readonly failuresMax: number; readonly answer?: string },
): Promise<PinningBalancer> {
  const sockets = new Set<Socket>();
  let failedCount = 0;
  const server = createServer((near) => {
    sockets.add(near);
    const chosen = replicaUrls[failedCount < failuresMax ? 0 : 1]!;
    const { hostname, port } = new URL(chosen);
    const far = connect(Number(port), hostname);
    let isOpen = false;
    far.on("connect", () => {
      isOpen = true;
      near.pipe(far).pipe(near);
    });
    near.on("error", () => {});
    far.on("error", () => {});
    near.on("close", () => {
      sockets.delete(near);
      far.destroy();
    });
    far.on("close", () => {
      if (isOpen) return void near.destroy();
      failedCount++;
      // A reply is sent only after a request.
      if (answer === "") near.destroy();
      else near.once("data", () => near.end(answer));
    });
  });
  await once(server.listen(0, "127.0.0.1"), "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    failedCount: () => failedCount,
    async close() {
      const closed = once(server.close(), "close");
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}
