import { randomUUID } from "node:crypto";
import { createContextKey } from "@connectrpc/connect";

/** The context value that holds the request id, for handlers, interceptors and gates. */
export const requestIdKey = createContextKey("", { description: "request id" });

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** The client's own request id if it is short and plain, else a new UUID. */
export function chooseRequestId(header: string | string[] | undefined): string {
  return typeof header === "string" && SANE.test(header) ? header : randomUUID();
}
