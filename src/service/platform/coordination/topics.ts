/** The names of all signals. */
export const topics = {
  /** A sign request changed its state. */
  sign: (signRequestId: string): string => `sign:${signRequestId}`,
  /** A presign of the network became ready or returned to the pool. */
  presignReady: (network: string): string => `presign-ready:${network}`,
  /** Presigns of the network were taken, callers wait for some, or a dWallet will. The pool may need a refill. */
  presignWanted: (network: string): string => `presign-wanted:${network}`,
  /** A process without the master seed asks for a deposit address of the network. */
  depositRequested: (network: string): string => `deposit-requested:${network}`,
  /** A process with the master seed has made deposit addresses of the network. */
  depositMade: (network: string): string => `deposit-made:${network}`,
  /** Deposit addresses of the network are due for a scan, or soon will be. */
  depositDue: (network: string): string => `deposit-due:${network}`,
  /** A dWallet of the network is leaving the service. */
  leaving: (network: string): string => `leaving:${network}`,
  /** An operation for the network was put into the outbox. */
  outbox: (network: string): string => `outbox:${network}`,
  /** A transaction of the network landed: sessions may have begun. */
  landed: (network: string): string => `landed:${network}`,
  /** The operation of this row ended. */
  operation: (subjectId: string): string => `operation:${subjectId}`,
  /** There are new events of the project. */
  events: (projectId: string): string => `${EVENT_TOPICS}:${projectId}`,
  /** The webhook endpoints of the project have changed, or have something to send. */
  webhooks: (projectId: string): string => `${WEBHOOK_TOPICS}:${projectId}`,
  /** A key was changed or revoked. */
  key: (kind: (typeof KEY_KINDS)[number], keyId: string): string => `${kind}:${keyId}`,
  /** An identity provider was removed, and its sessions have ended. */
  identityProvider: (providerId: string): string => `${IDENTITY_PROVIDER_TOPICS}:${providerId}`,
} as const;

/** The kind of topic for events. The subject is the project's id. */
export const EVENT_TOPICS = "events";

/** The kind of topic for webhooks. The subject is the project's id. */
export const WEBHOOK_TOPICS = "webhooks";

/** The kind of topic for projects' keys. The subject is the key's id. */
export const API_KEY_TOPICS = "api-key";

/** The kind of topic for named admin keys. */
export const ADMIN_KEY_TOPICS = "admin-key";

/** The kind of topic for sessions. The subject is the session's id. */
export const SESSION_TOPICS = "session";

/** The kind of topic for identity providers. The subject is the provider's id. */
export const IDENTITY_PROVIDER_TOPICS = "identity-provider";

/** The kinds of topics for keys and sessions. */
export const KEY_KINDS = [API_KEY_TOPICS, ADMIN_KEY_TOPICS, SESSION_TOPICS] as const;

/** Splits a topic into its kind and its subject. */
export function splitTopic(topic: string): { readonly kind: string; readonly subject: string } {
  const at = topic.indexOf(":");
  return { kind: topic.slice(0, at), subject: topic.slice(at + 1) };
}
