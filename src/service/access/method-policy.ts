import { type DescMethod, type DescService, getOption } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import {
  Access,
  Audit,
  access,
  audit,
  CostClass,
  cost_class as costClassOption,
  Idempotency,
  idempotency,
  Networks,
  networks,
  Reach,
  reach,
} from "../../../gen/proto/tss/v1/options_pb.ts";
import type { Scope } from "./caller.ts";

/** Returns the policy of a method, from its options `tss.v1.*`. Throws if the method does not declare them all. */
export function methodPolicy(method: DescMethod): MethodPolicy {
  const policy = known.get(method) ?? readPolicy(method);
  known.set(method, policy);
  return policy;
}

/** The cost of a call to the service; see `CostClass` in the contract. */
export type CostClassName = "read" | "write" | "chain" | "verify" | "stream";

/** A method's policy in the contract: its permitted callers, and the effects of a call. */
export type MethodPolicy = MethodAccess & {
  readonly costClass: CostClassName;
  /** The effect of repeating the same call; see `Idempotency` in the contract. */
  readonly idempotency: "read" | "natural" | "keyed";
  /** True if a call writes an event to the audit trail. */
  readonly isAudited: boolean;
  /** True if a call is about all served networks or none in particular, so that it need not name one. */
  readonly isOverNetworks: boolean;
  /**
   * What a caller gets that is confined to users or dWallets: only its own, or nothing, as the method is about the whole
   * project. Undefined for methods that are not for projects.
   */
  readonly reach: "own" | "project" | undefined;
};

/** Returns whether a method is a list for operators. Its calls may also name a network that is no longer served. */
export function listsAnyNetwork({ access, idempotency, isOverNetworks }: MethodPolicy): boolean {
  return access === "admin" && idempotency === "read" && isOverNetworks;
}

/** Returns the methods that use the header `idempotency-key`. Throws if a method does not declare its policy. */
export function keyedMethods(services: readonly DescService[]): ReadonlySet<DescMethod> {
  const methods = services.flatMap((service) => service.methods);
  return new Set(methods.filter((method) => methodPolicy(method).idempotency === "keyed"));
}

type MethodAccess =
  | { readonly access: "public"; readonly scope: undefined }
  /** The request contains an ID token in place of a key, which the method verifies. */
  | { readonly access: "idToken"; readonly scope: undefined }
  | {
      readonly access: "admin";
      readonly scope: undefined /** Named admin keys are refused. */;
      readonly isRootOnly: boolean;
    }
  | { readonly access: "project"; readonly scope: Scope | "any" };

/** Caches policies, because every call reads them and each read decodes the options again. */
const known = new WeakMap<DescMethod, MethodPolicy>();

function readPolicy(method: DescMethod): MethodPolicy {
  const declared = <T>(option: string, value: T | undefined): T => {
    if (value !== undefined) return value;
    throw new Error(`${method.parent.typeName}/${method.name} does not declare its ${option}`);
  };
  const permitted = declared("access", ACCESS[getOption(method, access)]);
  const reached = REACH[getOption(method, reach)];
  return {
    ...permitted,
    reach: permitted.access === "project" ? declared("reach", reached) : reached,
    costClass: declared("cost_class", COST_CLASS[getOption(method, costClassOption)]),
    idempotency: declared("idempotency", IDEMPOTENCY[getOption(method, idempotency)]),
    isAudited: declared("audit", AUDIT[getOption(method, audit)]),
    isOverNetworks: getOption(method, networks) === Networks.ALL,
  };
}

const ACCESS: Readonly<Record<Access, MethodAccess | undefined>> = {
  [Access.UNSPECIFIED]: undefined,
  [Access.PUBLIC]: { access: "public", scope: undefined },
  [Access.ADMIN]: { access: "admin", scope: undefined, isRootOnly: false },
  [Access.ROOT]: { access: "admin", scope: undefined, isRootOnly: true },
  [Access.ONBOARD]: { access: "project", scope: "onboard" },
  [Access.SIGN]: { access: "project", scope: "sign" },
  [Access.READ]: { access: "project", scope: "read" },
  [Access.BILLING]: { access: "project", scope: "billing" },
  [Access.PROJECT]: { access: "project", scope: "any" },
  [Access.SESSIONS]: { access: "project", scope: "sessions" },
  [Access.WEBHOOKS]: { access: "project", scope: "webhooks" },
  [Access.RELEASE]: { access: "project", scope: "release" },
  [Access.PROPOSE]: { access: "project", scope: "propose" },
  [Access.ID_TOKEN]: { access: "idToken", scope: undefined },
};

const REACH: Readonly<Record<Reach, MethodPolicy["reach"]>> = {
  [Reach.UNSPECIFIED]: undefined,
  [Reach.PROJECT]: "project",
  [Reach.OWN]: "own",
};

const COST_CLASS: Readonly<Record<CostClass, CostClassName | undefined>> = {
  [CostClass.UNSPECIFIED]: undefined,
  [CostClass.READ]: "read",
  [CostClass.WRITE]: "write",
  [CostClass.CHAIN]: "chain",
  [CostClass.STREAM]: "stream",
  [CostClass.VERIFY]: "verify",
};

const IDEMPOTENCY: Readonly<Record<Idempotency, MethodPolicy["idempotency"] | undefined>> = {
  [Idempotency.UNSPECIFIED]: undefined,
  [Idempotency.READ]: "read",
  [Idempotency.NATURAL]: "natural",
  [Idempotency.KEYED]: "keyed",
};

const AUDIT: Readonly<Record<Audit, boolean | undefined>> = {
  [Audit.UNSPECIFIED]: undefined,
  [Audit.NONE]: false,
  [Audit.ENTRY]: true,
};

/**
 * Checks that all methods of these services declare a consistent policy. Throws one error with every fault. Call it at
 * startup.
 */
export function checkPolicies(services: readonly DescService[]): void {
  const faults = services.flatMap((service) => service.methods.flatMap(faultsOf));
  if (faults.length > 0) throw new Error(`the contract cannot be served:\n${faults.join("\n")}`);
}

function faultsOf(method: DescMethod): string[] {
  try {
    const policy = methodPolicy(method);
    return RULES.filter(({ holds }) => !holds(policy, method)).map(
      ({ rule }) => `${method.parent.typeName}/${method.name}: ${rule}`,
    );
  } catch (error) {
    return [error instanceof Error ? error.message : String(error)];
  }
}

interface Rule {
  readonly rule: string;
  readonly holds: (policy: MethodPolicy, method: DescMethod) => boolean;
}

const RULES: readonly Rule[] = [
  {
    // Connect also serves a method without side effects with GET, which caches and browsers may repeat.
    rule: "has the idempotency READ exactly if its idempotency_level is NO_SIDE_EFFECTS",
    holds: ({ idempotency }, method) =>
      (idempotency === "read") === (method.idempotency === MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS),
  },
  {
    rule: "is audited exactly if it changes something",
    holds: ({ idempotency, isAudited }) => isAudited === (idempotency !== "read"),
  },
  {
    rule: "has the cost class STREAM exactly if it streams",
    holds: ({ costClass }, method) => (costClass === "stream") === (method.methodKind !== "unary"),
  },
  {
    rule: "costs more than READ if it changes something, and no transaction if it does not",
    holds: ({ costClass, idempotency }) => costClass !== (idempotency === "read" ? "chain" : "read"),
  },
  {
    rule: "is KEYED only if it is unary, as one reply is remembered",
    holds: ({ idempotency }, method) => idempotency !== "keyed" || method.methodKind === "unary",
  },
  {
    rule: "declares its reach only if it is for projects",
    holds: ({ access, reach }) => (access === "project") === (reach !== undefined),
  },
  {
    // The exchange of a token makes a session. A read needs no token: it is public, or for the session.
    rule: "is KEYED and covers all networks if it is for the holder of an ID token",
    holds: ({ access, idempotency, isOverNetworks }) =>
      access !== "idToken" || (idempotency === "keyed" && isOverNetworks),
  },
  {
    rule: "changes nothing if it is public or has the scope `read`",
    holds: ({ access, scope, idempotency }) =>
      idempotency === "read" || (access !== "public" && scope !== "read"),
  },
];
