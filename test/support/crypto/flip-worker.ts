/** A worker of an engine in which a bit of an input flips. Each call carries its {@link InputFlip} as `flip`. */
import { parentPort } from "node:worker_threads";
import type { ToWorker } from "../../../src/client/crypto/engines/engine-messages.ts";
import { serveEngine } from "../../../src/client/crypto/engines/serve-engine.ts";
import { type InputFlip, setFlip } from "./flip-input.ts";

const port = parentPort!;
serveEngine({
  set onmessage(listener: ((event: MessageEvent<ToWorker>) => void) | null) {
    port.on("message", (data: ToWorker & { readonly flip?: InputFlip }) => {
      setFlip(data.flip);
      listener?.({ data } as MessageEvent<ToWorker>);
    });
  },
  postMessage: (message, transfer) => port.postMessage(message, transfer),
});
