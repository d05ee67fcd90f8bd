import { type Client, createClient, type Interceptor } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { Signer } from "../../../gen/proto/tss/signer/v1/signer_pb.ts";
import type { Secret } from "../../service/platform/telemetry/secret.ts";

/** Creates a client of a running signer. Connects at the first call. */
export function connectSigner(place: SignerPlace): Client<typeof Signer> {
  const common = { httpVersion: "1.1", defaultTimeoutMs: TIMEOUT_MS, readMaxBytes: MAX_REPLY_BYTES } as const;
  if ("socketPath" in place)
    return createClient(
      Signer,
      createConnectTransport({
        ...common,
        baseUrl: "http://localhost",
        nodeOptions: { socketPath: place.socketPath },
      }),
    );
  const authorized: Interceptor = (next) => (request) => {
    request.header.set("authorization", `Bearer ${place.token.reveal()}`);
    return next(request);
  };
  return createClient(
    Signer,
    createConnectTransport({ ...common, baseUrl: place.url, interceptors: [authorized] }),
  );
}

/** Where a signer listens. */
export type SignerPlace = { readonly socketPath: string } | { readonly url: string; readonly token: Secret };

const TIMEOUT_MS = 30_000;
const MAX_REPLY_BYTES = 4 * 1024 * 1024;
