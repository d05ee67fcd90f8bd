import { createContextKey } from "@connectrpc/connect";

/** Returns an address without the IPv4-in-IPv6 mapping of dual-stack sockets. */
export function withoutMapping(address: string): string {
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}

/** The context value with the address of the connection's peer, such as `127.0.0.1` or `::1`. */
export const peerAddressKey = createContextKey("", { description: "peer address" });
