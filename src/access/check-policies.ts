import type { DescMethod, DescService } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel } from "@bufbuild/protobuf/wkt";
import { type MethodPolicy, methodPolicy } from "./method-policy.ts";

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
    rule: "changes nothing if it is public or has the scope `read`",
    holds: ({ access, scope, idempotency }) =>
      idempotency === "read" || (access !== "public" && scope !== "read"),
  },
];
