/** The baseline of `bench/watches.ts`: accepts each stream, answers one message, and leaves it open. */
import { createServer } from "node:http2";
import type { AddressInfo } from "node:net";

const MESSAGE = Buffer.alloc(200);
const server = createServer();
server.on("stream", (stream) => {
  stream.on("error", () => {});
  stream.resume();
  stream.respond({ ":status": 200, "content-type": "application/grpc" });
  stream.write(MESSAGE);
});
server.listen(0, "127.0.0.1", () => {
  process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });
});
