import { type ContextValues, createContextKey } from "@connectrpc/connect";
import type { AuditOrigin } from "../audit/audit-event.ts";
import type { Allowance } from "./allowances/allowance.ts";

/** The caller that the gate identified. */
export type Caller = ProjectCaller | AdminCaller | AnonymousCaller;

/** The permissions that a project's key can have. */
export type Scope = "onboard" | "sign" | "read" | "billing" | "sessions" | "webhooks" | "release" | "propose";

/** All permissions that a session can have. */
export const SESSION_SCOPES = [
  "onboard",
  "sign",
  "read",
  "release",
  "propose",
] as const satisfies readonly Scope[];

/** A permission of a session. */
export type SessionScope = (typeof SESSION_SCOPES)[number];

/** All scopes, for an unrestricted key. */
export const SCOPES: readonly Scope[] = [
  "onboard",
  "sign",
  "read",
  "billing",
  "sessions",
  "webhooks",
  "release",
  "propose",
];

/**
 * The scopes of a new key that names none. A key that releases is for somebody else than a key that signs, and the
 * release before held halves cannot read a key with the scope `release` or `propose`.
 */
export const DEFAULT_SCOPES: readonly Scope[] = SCOPES.filter(
  (scope) => scope !== "release" && scope !== "propose",
);

/** Returns whether scopes include another one: `sign` includes `propose`. */
export function hasScope(scopes: readonly Scope[], scope: Scope): boolean {
  return scopes.includes(scope) || (scope === "propose" && scopes.includes("sign"));
}

/** A caller with a project's key, or with a session of one of its users. */
export interface ProjectCaller {
  readonly kind: "project";
  readonly projectId: string;
  /** The id of the key, or of the session. */
  readonly apiKeyId: string;
  /** The session; undefined for a key. */
  readonly session?: CallerSession | undefined;
  readonly network: string;
  readonly scopes: readonly Scope[];
  /** The limits of a narrow key or a session; undefined for a key without any. */
  readonly allowance?: Allowance | undefined;
  readonly origin: AuditOrigin;
}

/** The facts about the session of a call. Its limits are in the caller's allowance. */
export interface CallerSession {
  readonly userReference: string;
  readonly expiresAt: Date;
  readonly origins: readonly string[];
  /** The RFC 7638 thumbprint of the device's key; undefined if the token alone suffices. */
  readonly proofKeyThumbprint: string | undefined;
}

/** A caller with an admin key. */
export interface AdminCaller {
  readonly kind: "admin";
  /** Empty for a call about all networks. */
  readonly network: string;
  /** The networks of the call: `network`, or all served ones if it is empty. */
  readonly networks: readonly string[];
  readonly origin: AuditOrigin;
}

/** A caller of a public method. */
export interface AnonymousCaller {
  readonly kind: "anonymous";
  /** Empty for a call about no network in particular. */
  readonly network: string;
}

const callerKey = createContextKey<Caller | undefined>(undefined, { description: "caller" });

/** Stores the caller in the context. Only the gate calls this. */
export function setCaller(values: ContextValues, caller: Caller): void {
  values.set(callerKey, caller);
}

/**
 * Returns the caller of a method that accepts this kind of caller. The gate admits no other kind. Throws if the gate
 * did not run.
 */
export function callerOf<K extends Caller["kind"]>(
  context: { readonly values: ContextValues },
  kind: K,
): Extract<Caller, { kind: K }> {
  const caller = context.values.get(callerKey);
  if (!isOfKind(caller, kind)) throw new Error(`the gate let ${caller?.kind ?? "an unknown caller"} through`);
  return caller;
}

/** Returns the network of the admitted call; empty if it is about several or none. Throws if the gate did not run. */
export function networkOf({ values }: { readonly values: ContextValues }): string {
  const caller = values.get(callerKey);
  if (caller === undefined) throw new Error("the gate let an unknown caller through");
  return caller.network;
}

/**
 * Describes the caller for the log line of a call. Its network is always a served one, because the gate admits no other,
 * or empty. Returns nothing if the gate did not get as far as the caller.
 */
export function describeCaller(values: ContextValues): Readonly<Record<string, string>> {
  const caller = values.get(callerKey);
  switch (caller?.kind) {
    case "project": {
      const { network, projectId, apiKeyId, session } = caller;
      return { network, projectId, [session === undefined ? "apiKeyId" : "sessionId"]: apiKeyId };
    }
    case "admin":
      return { network: caller.network, actor: caller.origin.actor };
    case "anonymous":
      return { network: caller.network };
    default:
      return {};
  }
}

function isOfKind<K extends Caller["kind"]>(
  caller: Caller | undefined,
  kind: K,
): caller is Extract<Caller, { kind: K }> {
  return caller?.kind === kind;
}
