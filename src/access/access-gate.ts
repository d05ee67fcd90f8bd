import { createHash, timingSafeEqual } from "node:crypto";
import type { HandlerContext } from "@connectrpc/connect";
import { invalidField, ServiceError } from "../errors/service-error.ts";
import type { AuditOrigin } from "../store/audit.ts";
import type { Secret } from "../telemetry/secret.ts";
import type { ApiKeyLookup, KnownApiKey } from "./api-key-lookup.ts";
import { type Caller, setCaller } from "./caller.ts";
import { requiredAccess } from "./required-access.ts";

/** What the gate looks at of a call. */
export type GatedCall = Pick<HandlerContext, "method" | "requestHeader" | "values">;

/** What the gate needs. */
export interface AccessGateOptions {
  readonly lookup: Pick<ApiKeyLookup, "find">;
  /** Undefined: nobody is an admin. */
  readonly adminApiKey: Secret | undefined;
  /** The networks that are served, one at least. */
  readonly networks: readonly string[];
  /** What the audit trail is to know of a call beside its key. */
  readonly traceOf: (call: GatedCall) => Omit<AuditOrigin, "actor">;
  /** Milliseconds since the epoch. Default: the clock. */
  readonly now?: () => number;
}

/**
 * Decides who may call a method, by its option `tss.v1.access`, before the body is read, and leaves the caller in the
 * context for `callerOf`. Throws ServiceError MISSING_KEY, INVALID_KEY, REVOKED_KEY, EXPIRED_KEY, NETWORK_MISMATCH,
 * NETWORK_DISABLED, SCOPE_MISSING, ADMIN_ONLY, and VALIDATION where `x-network` is needed and missing.
 */
export function createAccessGate(options: AccessGateOptions): (call: GatedCall) => Promise<void> {
  return async (call) => {
    setCaller(call.values, await admit(call, options));
  };
}

async function admit(call: GatedCall, options: AccessGateOptions): Promise<Caller> {
  const { lookup, adminApiKey, networks, traceOf, now = Date.now } = options;
  const required = requiredAccess(call.method);
  const named = call.requestHeader.get("x-network") ?? undefined;
  if (required.kind === "public") return { kind: "anonymous", network: networkOf(named, networks) };

  const plaintext = keyOf(call.requestHeader);
  if (required.kind === "admin") {
    if (adminApiKey !== undefined && isSame(plaintext, adminApiKey.reveal())) {
      return {
        kind: "admin",
        network: networkOf(named, networks),
        origin: { actor: "admin", ...traceOf(call) },
      };
    }
    await usableKey(lookup, plaintext, now());
    throw new ServiceError("ADMIN_ONLY", "this call needs an admin key");
  }

  const key = await usableKey(lookup, plaintext, now());
  if (named !== undefined && named !== key.network) {
    throw new ServiceError("NETWORK_MISMATCH", `the key belongs to ${key.network}`, {
      metadata: { network: key.network },
    });
  }
  if (!networks.includes(key.network)) throw networkDisabled(key.network);
  if (!key.scopes.includes(required.scope)) {
    throw new ServiceError("SCOPE_MISSING", `the key lacks the scope ${required.scope}`, {
      metadata: { scope: required.scope },
    });
  }
  const { id: apiKeyId, projectId, network, scopes } = key;
  return {
    kind: "project",
    projectId,
    apiKeyId,
    network,
    scopes,
    origin: { actor: `key:${apiKeyId}`, ...traceOf(call) },
  };
}

function keyOf(headers: Headers): string {
  const bearer = /^Bearer +(\S+) *$/i.exec(headers.get("authorization") ?? "")?.[1];
  const key = bearer ?? headers.get("x-api-key") ?? "";
  if (key === "") {
    throw new ServiceError("MISSING_KEY", "send `authorization: Bearer <key>` or `x-api-key`");
  }
  return key;
}

async function usableKey(
  lookup: Pick<ApiKeyLookup, "find">,
  plaintext: string,
  nowMs: number,
): Promise<KnownApiKey> {
  const key = await lookup.find(plaintext);
  if (key === undefined) throw new ServiceError("INVALID_KEY", "the API key is not known");
  if (key.revokedAt !== null) throw new ServiceError("REVOKED_KEY", "the API key was revoked");
  if (key.expiresAt !== null && key.expiresAt.getTime() <= nowMs) {
    throw new ServiceError("EXPIRED_KEY", "the API key has expired", {
      metadata: { expireTime: key.expiresAt.toISOString() },
    });
  }
  return key;
}

function networkOf(named: string | undefined, networks: readonly string[]): string {
  const [only, ...others] = networks;
  if (only === undefined) throw new Error("no network is served");
  if (named === undefined) {
    if (others.length > 0) throw invalidField("x-network", `one of ${networks.join(", ")}`);
    return only;
  }
  if (!networks.includes(named)) throw networkDisabled(named);
  return named;
}

function networkDisabled(network: string): ServiceError {
  return new ServiceError("NETWORK_DISABLED", "this service does not serve that network", {
    // Of the caller's text only as much goes back as a name may have.
    metadata: { network: network.slice(0, 32) },
  });
}

/** Compares digests, so that neither content nor length shows in the time. */
function isSame(left: string, right: string): boolean {
  return timingSafeEqual(digest(left), digest(right));
}

function digest(text: string): Buffer {
  return createHash("sha256").update(text).digest();
}
