import { randomBytes } from "node:crypto";
import { createContextKey } from "@connectrpc/connect";

/** The context value that holds the request id, for handlers, interceptors and gates. */
export const requestIdKey = createContextKey("", { description: "request id" });

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

/** The client's own request id if it is short and plain, else a new UUID. */
export function chooseRequestId(header: string | string[] | undefined): string {
  return typeof header === "string" && SANE.test(header) ? header : nextUuid();
}

// A UUID of version 8 (RFC 9562, 5.8): random for each process, then counted, which costs less than drawing each.
const randomPart = randomBytes(10).toString("hex");
const prefix = `${randomPart.slice(0, 8)}-${randomPart.slice(8, 12)}-8${randomPart.slice(12, 15)}-8${randomPart.slice(15, 18)}-`;
let count = 0;

function nextUuid(): string {
  count++;
  return prefix + count.toString(16).padStart(12, "0");
}
