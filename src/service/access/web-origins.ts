import type { HandlerContext } from "@connectrpc/connect";
import { invalidField, ServiceError } from "../platform/errors/service-error.ts";
import type { KnownApiKey } from "./keys/stored-keys.ts";
import type { KnownSession } from "./stored-sessions.ts";

/**
 * Checks web origins such as `https://app.example` or `http://localhost:5173`, and returns them. Throws VALIDATION,
 * naming the field, for a text that no browser sends as an origin, and for http on another host than localhost.
 */
export function readOrigins(field: string, origins: readonly string[]): readonly string[] {
  const wrong = origins.findIndex((origin) => !isOrigin(origin));
  if (wrong < 0) return origins;
  throw invalidOrigin(field, wrong);
}

/**
 * Checks the web origins of a project's key, as {@link readOrigins} does, where `*` stands for every origin. Throws
 * VALIDATION, naming the item of `allowed_origins`.
 */
export function readKeyOrigins(origins: readonly string[]): readonly string[] {
  const wrong = origins.findIndex((origin) => origin !== ANY_ORIGIN && !isOrigin(origin));
  if (wrong < 0) return origins;
  throw invalidOrigin("allowed_origins", wrong);
}

/** Stands for every origin in the origins of a key. */
export const ANY_ORIGIN = "*";

function invalidOrigin(field: string, index: number): ServiceError {
  return invalidField(
    `${field}[${index}]`,
    "must be an origin as browsers send it, such as `https://app.example`; http is for localhost alone",
  );
}

/**
 * Refuses a page whose origin the session or key does not allow, and lets an allowed page read the reply. A key without
 * origins is refused in every page but the service's own. Throws ORIGIN_NOT_ALLOWED and KEY_IN_BROWSER.
 */
export function checkOrigin(
  key: Pick<KnownApiKey, "allowedOrigins" | "allows"> | Pick<KnownSession, "origins">,
  { requestHeader, responseHeader }: Pick<HandlerContext, "requestHeader" | "responseHeader">,
): void {
  if (!("allows" in key)) {
    const origin = requestHeader.get("origin");
    if (origin === null) return;
    if (!key.origins.includes(origin)) throw originNotAllowed(origin);
    responseHeader.set("access-control-allow-origin", origin);
    return;
  }
  const origin = foreignOriginOf(requestHeader);
  if (origin === undefined) return;
  const { allowedOrigins } = key;
  if (allowedOrigins.length === 0) throw keyInBrowser(origin);
  if (!allowedOrigins.includes(origin) && !allowedOrigins.includes(ANY_ORIGIN))
    throw originNotAllowed(origin);
  responseHeader.set("access-control-allow-origin", origin);
}

/**
 * Returns the origin of the page that sent a key. Undefined for a call without the header `origin`, as backends and apps
 * make it, and for a page of the service itself, such as the web console.
 */
function foreignOriginOf(headers: Headers): string | undefined {
  const origin = headers.get("origin");
  if (origin === null) return undefined;
  // No page can set or remove either header. Browsers omit `sec-fetch-site` on plain http.
  const isOwn = headers.get("sec-fetch-site") === "same-origin" || hostOf(origin) === headers.get("host");
  return isOwn ? undefined : origin;
}

/** Returns the error for a page whose origin the session or key does not allow. */
export function originNotAllowed(origin: string): ServiceError {
  return new ServiceError("ORIGIN_NOT_ALLOWED", "pages of this origin may not use the session or key", {
    metadata: { origin: shown(origin) },
  });
}

/** Returns the error for a project's key that a page sent. */
function keyInBrowser(origin: string): ServiceError {
  return new ServiceError(
    "KEY_IN_BROWSER",
    "a page must not hold a project key: create a session on a backend with CreateSession, and send its token",
    { metadata: { origin: shown(origin) } },
  );
}

function isOrigin(text: string): boolean {
  if (!URL.canParse(text)) return false;
  const { origin, protocol, hostname } = new URL(text);
  // The parser accepts the character, but no host has it. Only `*` alone stands for several origins.
  if (hostname.includes("*")) return false;
  return origin === text && (protocol === "https:" || (protocol === "http:" && isLocal(hostname)));
}

function isLocal(hostname: string): boolean {
  return LOCAL_HOSTS.has(hostname) || hostname.endsWith(".localhost");
}

const LOCAL_HOSTS: ReadonlySet<string> = new Set(["localhost", "127.0.0.1", "[::1]"]);

function hostOf(origin: string): string | undefined {
  return URL.canParse(origin) ? new URL(origin).host : undefined;
}

/** Echoes no more of the caller's text than an origin can hold. */
function shown(origin: string): string {
  return origin.slice(0, ORIGIN_MAX_LENGTH);
}

/** A scheme, a host name of 253 characters and a port. */
const ORIGIN_MAX_LENGTH = 267;
