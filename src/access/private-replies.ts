import type { HandlerContext } from "@connectrpc/connect";
import { methodPolicy } from "./method-policy.ts";

/**
 * Forbids caches to store replies to a key's calls: sets `cache-control: no-store` and `vary` on every reply of a
 * method that is not public, including errors. Omits both over gRPC, which has no caches.
 */
export function keepPrivate(call: Pick<HandlerContext, "method" | "protocolName" | "responseHeader">): void {
  if (call.protocolName === "grpc" || methodPolicy(call.method).access === "public") return;
  call.responseHeader.set("cache-control", "no-store");
  call.responseHeader.append("vary", VARY);
}

/** The request headers that a reply depends on. */
const VARY = "authorization, x-api-key, x-network";
