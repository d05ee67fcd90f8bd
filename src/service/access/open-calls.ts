import type { DescMethod } from "@bufbuild/protobuf";
import { createContextValues, type HandlerContext } from "@connectrpc/connect";
import { peerAddressKey } from "../../transport/http/node-http.ts";
import type { CheckedRequest } from "../../transport/http/plain-routes.ts";
import type { GatedCall } from "./access-gate.ts";
import { addressBlock } from "./address-block.ts";
import { type ClientAddress, clientAddressKey } from "./client-address.ts";
import { type RateLimiter, rateLimited } from "./rate-limiter.ts";

/** Creates the counter, which counts by address in the class `open`. */
export function createOpenCalls(limiter: RateLimiter, clientAddress: ClientAddress): OpenCalls {
  async function limit(address: string): Promise<void> {
    const verdict = await limiter.take("open", `address:${addressBlock(address)}`);
    if (verdict?.isAllowed === false) throw rateLimited(verdict, "too many calls from this address");
  }
  return {
    limitCall({ values, requestHeader }) {
      const address = clientAddress(values.get(peerAddressKey), requestHeader);
      values.set(clientAddressKey, address);
      return limit(address);
    },
    limitRequest: async ({ peerAddress, headers }) => limit(clientAddress(peerAddress, headers)),
  };
}

/** Limits calls without a key to the server itself: gRPC health and reflection, and documents. */
export interface OpenCalls {
  /** Counts a call of the server's own gRPC services. Throws RATE_LIMITED. */
  limitCall(call: Pick<HandlerContext, "values" | "requestHeader">): Promise<void>;
  /** Counts a request of a plain route. Throws RATE_LIMITED. */
  limitRequest(request: CheckedRequest): Promise<void>;
}

/**
 * Returns a check of plain requests that admits the callers of `method`, within the same limits. Throws the gate's
 * errors.
 */
export function guardLike(
  method: DescMethod,
  gate: (call: GatedCall) => void | Promise<void>,
): (request: CheckedRequest) => Promise<void> {
  return async ({ peerAddress, headers }) => {
    const values = createContextValues().set(peerAddressKey, peerAddress);
    await gate({ method, requestHeader: headers, responseHeader: new Headers(), values });
  };
}
