import { createContextKey } from "@connectrpc/connect";

/** The context value that holds the address of the peer that made the connection, such as `127.0.0.1` or `::1`. */
export const peerAddressKey = createContextKey("", { description: "peer address" });
