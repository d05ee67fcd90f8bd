import { Code, ConnectError } from "@connectrpc/connect";
import {
  type ChainOperation,
  ChainTransaction_StateSchema,
  type Project,
} from "../../../gen/client/tss/v1/admin_pb.ts";
import { type DWallet, DWallet_StateSchema } from "../../../gen/client/tss/v1/onboarding_pb.ts";
import { SignRequest_StatusSchema } from "../../../gen/client/tss/v1/signing_pb.ts";
import { enumName, shortId } from "../format/text.ts";
import type { Route } from "../route.ts";
import type { Session } from "./session.ts";

/**
 * Finds pages of the console, and what the key may see, by an id, a digest, a reference or a part of a name. Names are
 * searched among the newest 200 keys and projects, and digests among the newest 200 transactions. Rejects if the service does not answer.
 */
export async function find(
  session: Session,
  routes: readonly Route[],
  text: string,
  signal: AbortSignal,
): Promise<Found[]> {
  const wanted = text.trim();
  if (wanted === "") return [];
  const finders = session.role === "operator" ? OPERATOR_FINDERS : PROJECT_FINDERS;
  const found = await Promise.all(finders.map((finder) => finder(session, wanted, signal)));
  return [...pagesWith(routes, wanted), ...found.flat()].slice(0, FOUND_MAX_COUNT);
}

/** Something that was found. */
export interface Found {
  /** What it is: `dWallet`, `sign request`, `page` … */
  readonly kind: string;
  readonly title: string;
  /** What tells it apart from others, such as its state; empty if nothing does. */
  readonly note: string;
  readonly href: string;
}

/** Finds things of one kind. Resolves to none for a text that cannot name one. */
type Finder = (session: Session, wanted: string, signal: AbortSignal) => Promise<Found[]>;

const FOUND_MAX_COUNT = 20;
const NAMED_MAX_COUNT = 5;
const UUID = /^[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i;
const OBJECT_ID = /^0x[0-9a-f]{64}$/i;
const REFERENCE = /^[ -~]{1,128}$/;

function pagesWith(routes: readonly Route[], wanted: string): Found[] {
  return routes
    .filter(({ title, path, menu, hasId }) => path === menu && hasId !== true && has(title, wanted))
    .map(({ title, path }) => ({ kind: "page", title, note: "", href: `#/${path}` }));
}

const has = (name: string, wanted: string): boolean => name.toLowerCase().includes(wanted.toLowerCase());

const PROJECT_FINDERS: readonly Finder[] = [
  async ({ signing }, wanted, signal) => {
    if (!UUID.test(wanted)) return [];
    const request = await orNothing(signing.getSign({ signRequestId: wanted }, { signal }));
    return request === undefined
      ? []
      : [
          {
            kind: "sign request",
            title: shortId(request.signRequestId),
            note: enumName(SignRequest_StatusSchema, request.status),
            href: `#/signs/${request.signRequestId}`,
          },
        ];
  },
  async ({ onboarding }, wanted, signal) => {
    if (!OBJECT_ID.test(wanted)) return [];
    const dwallet = await orNothing(onboarding.getDWallet({ dwalletId: wanted.toLowerCase() }, { signal }));
    return dwallet === undefined ? [] : [dwalletFound(dwallet)];
  },
  async ({ onboarding }, wanted, signal) => {
    if (OBJECT_ID.test(wanted) || UUID.test(wanted)) return [];
    const reply = await orNothing(onboarding.listDWallets({ name: wanted }, { signal }));
    return (reply?.dwallets ?? []).map(dwalletFound);
  },
  async ({ users }, wanted, signal) => {
    if (!REFERENCE.test(wanted)) return [];
    const reply = await orNothing(
      users.listUsers({ referencePrefix: wanted, pageSize: NAMED_MAX_COUNT }, { signal }),
    );
    return (reply?.users ?? []).map(({ reference, freezeTime }) => ({
      kind: "user",
      title: reference,
      note: freezeTime === undefined ? "" : "frozen",
      href: `#/users/${encodeURIComponent(reference)}`,
    }));
  },
  async ({ account }, wanted, signal) => {
    const reply = await orNothing(account.listAccountKeys({ pageSize: 200 }, { signal }));
    return (reply?.accountKeys ?? [])
      .filter(
        ({ name, prefix, apiKeyId }) => has(name, wanted) || prefix.startsWith(wanted) || apiKeyId === wanted,
      )
      .slice(0, NAMED_MAX_COUNT)
      .map(({ name, prefix }) => ({ kind: "key", title: name, note: `${prefix}…`, href: "#/keys" }));
  },
];

function dwalletFound({ dwalletId, name, state }: DWallet): Found {
  return {
    kind: "dWallet",
    title: name ?? shortId(dwalletId),
    note: enumName(DWallet_StateSchema, state),
    href: `#/dwallets/${dwalletId}`,
  };
}

const OPERATOR_FINDERS: readonly Finder[] = [
  async ({ admin }, wanted, signal) => {
    if (!UUID.test(wanted)) return [];
    const reply = await orNothing(admin.getProject({ projectId: wanted }, { signal }));
    return reply?.project === undefined ? [] : [projectFound(reply.project)];
  },
  // Without a call, because each look at a subject is an event of the audit trail.
  async (_session, wanted) =>
    UUID.test(wanted) || OBJECT_ID.test(wanted)
      ? [
          {
            kind: "sign request, dWallet or operation",
            title: `What happened to ${shortId(wanted.toLowerCase())}`,
            note: "",
            href: `#/subjects/${wanted.toLowerCase()}`,
          },
        ]
      : [],
  async ({ admin }, wanted, signal) => {
    if (UUID.test(wanted)) return [];
    const reply = await orNothing(admin.listProjects({ pageSize: 200 }, { signal }));
    return (reply?.projects ?? [])
      .filter(({ name }) => has(name, wanted))
      .slice(0, NAMED_MAX_COUNT)
      .map(projectFound);
  },
  async ({ admin }, wanted, signal) => {
    if (!/^\d{1,15}$/.test(wanted)) return [];
    const reply = await orNothing(admin.getAuditProof({ auditEventId: BigInt(wanted) }, { signal }));
    return reply?.auditEvent === undefined
      ? []
      : [{ kind: "audit event", title: wanted, note: reply.auditEvent.action, href: `#/audit/${wanted}` }];
  },
  async ({ admin }, wanted, signal) => {
    const reply = await orNothing(admin.listChainTransactions({ pageSize: 200 }, { signal }));
    return (reply?.chainTransactions ?? [])
      .filter(({ txDigest, operations }) => [txDigest, ...operations.map(subjectOf)].includes(wanted))
      .slice(0, NAMED_MAX_COUNT)
      .map(({ txDigest, state }) => ({
        kind: "transaction",
        title: shortId(txDigest),
        note: enumName(ChainTransaction_StateSchema, state),
        href: "#/transactions",
      }));
  },
];

const subjectOf = ({ subjectId }: ChainOperation): string => subjectId;

function projectFound({ projectId, name, network }: Project): Found {
  return { kind: "project", title: name, note: network, href: `#/projects/${projectId}` };
}

/** Returns undefined if the call finds nothing, or if the key may not make it. Rejects for other failures. */
async function orNothing<Reply>(call: Promise<Reply>): Promise<Reply | undefined> {
  try {
    return await call;
  } catch (cause) {
    const { code } = ConnectError.from(cause);
    if ([Code.NotFound, Code.PermissionDenied, Code.InvalidArgument].includes(code)) return undefined;
    throw cause;
  }
}
