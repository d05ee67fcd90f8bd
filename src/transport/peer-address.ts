import { createContextKey } from "@connectrpc/connect";

/** The context value that holds the address of the peer that made the connection, such as `127.0.0.1` or `::1`. */
export const peerAddressKey = createContextKey("", { description: "peer address" });

/** An address as sockets that listen on both families give it: IPv4 within IPv6 as IPv4. */
export function withoutMapping(address: string): string {
  return /^::ffff:([\d.]+)$/i.exec(address)?.[1] ?? address;
}
