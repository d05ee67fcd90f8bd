import { randomBytes } from "node:crypto";
import { createContextKey } from "@connectrpc/connect";

/** Returns the client's request id if it is short and plain, else a new UUID. */
export function chooseRequestId(header: string | string[] | undefined): string {
  return typeof header === "string" && SANE.test(header) ? header : nextUuid();
}

/** The context value with the request id, for handlers, interceptors and gates. */
export const requestIdKey = createContextKey("", { description: "request id" });

const SANE = /^[A-Za-z0-9._:-]{1,128}$/;

// A UUID of version 8 (RFC 9562, 5.8): a random part per process plus a counter, which is cheaper than random bytes per
// call. A bijection scrambles the counter, so that ids do not reveal the number of calls.
const randomPart = randomBytes(10).toString("hex");
const prefix = `${randomPart.slice(0, 8)}-${randomPart.slice(8, 12)}-8${randomPart.slice(12, 15)}-8${randomPart.slice(15, 18)}-`;
const SALT = randomBytes(4).readUInt32BE();
/** Odd, so that multiplication by it modulo 2^32 is invertible. */
const FACTOR = 0x9e3779b1;
const ROUND = 2 ** 32;
let count = 0;

function nextUuid(): string {
  count++;
  const scrambled = (Math.imul(count % ROUND, FACTOR) ^ SALT) >>> 0;
  const round = Math.floor(count / ROUND);
  return prefix + round.toString(16).padStart(4, "0") + scrambled.toString(16).padStart(8, "0");
}
