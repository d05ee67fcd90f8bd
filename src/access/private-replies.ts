import type { HandlerContext } from "@connectrpc/connect";
import { methodPolicy } from "./method-policy.ts";

/** What a reply to a key depends on beside its URL. */
const VARY = "authorization, x-api-key, x-network";

/**
 * Has no cache keep what is answered to a key: `cache-control: no-store` and `vary` on every reply of a method that is
 * not public, refusals included. gRPC itself knows no caches, so its replies go without.
 */
export function keepPrivate(call: Pick<HandlerContext, "method" | "protocolName" | "responseHeader">): void {
  if (call.protocolName === "grpc" || methodPolicy(call.method).access === "public") return;
  call.responseHeader.set("cache-control", "no-store");
  call.responseHeader.append("vary", VARY);
}
