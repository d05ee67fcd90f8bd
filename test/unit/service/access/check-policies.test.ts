import { create, type DescMethod, type DescService, setExtension } from "@bufbuild/protobuf";
import { MethodOptions_IdempotencyLevel, MethodOptionsSchema } from "@bufbuild/protobuf/wkt";
import { describe, expect, it } from "vitest";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { Events } from "../../../../gen/proto/tss/v1/events_pb.ts";
import { Identity } from "../../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../../gen/proto/tss/v1/operations_pb.ts";
import {
  Access,
  Audit,
  access,
  audit,
  CostClass,
  cost_class,
  Idempotency,
  idempotency,
  Reach,
  reach,
} from "../../../../gen/proto/tss/v1/options_pb.ts";
import { Sessions } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../../gen/proto/tss/v1/users_pb.ts";
import { Webhooks } from "../../../../gen/proto/tss/v1/webhooks_pb.ts";
import {
  checkPolicies,
  listsAnyNetwork,
  type MethodPolicy,
  methodPolicy,
} from "../../../../src/service/access/method-policy.ts";

const { reserveSign, getSign } = Signing.method;

interface Declared {
  access?: Access;
  costClass?: CostClass;
  idempotency?: Idempotency;
  audit?: Audit;
  reach?: Reach | undefined;
  level?: MethodOptions_IdempotencyLevel;
}

/** The method with only these declarations. */
function declaring(method: DescMethod, declared: Declared): DescMethod {
  const options = create(MethodOptionsSchema);
  if (declared.access !== undefined) setExtension(options, access, declared.access);
  if (declared.costClass !== undefined) setExtension(options, cost_class, declared.costClass);
  if (declared.idempotency !== undefined) setExtension(options, idempotency, declared.idempotency);
  if (declared.audit !== undefined) setExtension(options, audit, declared.audit);
  if (declared.reach !== undefined) setExtension(options, reach, declared.reach);
  return {
    ...method,
    idempotency: declared.level ?? method.idempotency,
    proto: { ...method.proto, options },
  };
}

const serviceOf = (method: DescMethod) => ({ ...Signing, methods: [method] }) as unknown as DescService;
const READ: Declared = {
  access: Access.READ,
  costClass: CostClass.READ,
  idempotency: Idempotency.READ,
  audit: Audit.NONE,
  reach: Reach.OWN,
  level: MethodOptions_IdempotencyLevel.NO_SIDE_EFFECTS,
};
const WRITE: Declared = {
  access: Access.SIGN,
  costClass: CostClass.WRITE,
  idempotency: Idempotency.KEYED,
  audit: Audit.ENTRY,
  reach: Reach.OWN,
  level: MethodOptions_IdempotencyLevel.IDEMPOTENCY_UNKNOWN,
};

describe("the contract", () => {
  it("declares a complete and consistent policy for every method", () => {
    expect(() =>
      checkPolicies([
        Onboarding,
        Signing,
        Billing,
        Account,
        Users,
        Sessions,
        Events,
        Webhooks,
        Identity,
        Admin,
        Operations,
      ]),
    ).not.toThrow();
  });

  it("lets only an operator's list over all networks name a network that is no longer served", () => {
    const list = { ...methodPolicy(reserveSign), access: "admin", idempotency: "read", isOverNetworks: true };
    expect(listsAnyNetwork(list as MethodPolicy)).toBe(true);
    for (const change of [{ access: "project" }, { idempotency: "natural" }, { isOverNetworks: false }])
      expect(listsAnyNetwork({ ...list, ...change } as MethodPolicy)).toBe(false);
  });

  it("has the policy that the proto declares", () => {
    expect(methodPolicy(reserveSign)).toEqual({
      access: "project",
      scope: "propose",
      costClass: "write",
      idempotency: "keyed",
      isAudited: true,
      isOverNetworks: false,
      reach: "own",
    });
    expect(methodPolicy(Onboarding.method.getProtocolParameters)).toEqual({
      access: "public",
      scope: undefined,
      costClass: "stream",
      idempotency: "read",
      isAudited: false,
      isOverNetworks: true,
      reach: undefined,
    });
  });
});

describe("a start fails and names the method", () => {
  it.each(["access", "costClass", "idempotency", "audit", "reach"] as const)("without %s", (missing) => {
    const method = declaring(reserveSign, { ...WRITE, [missing]: undefined });
    expect(() => checkPolicies([serviceOf(method)])).toThrow(
      /tss\.v1\.Signing\/ReserveSign does not declare its/,
    );
    expect(() => checkPolicies([serviceOf(declaring(reserveSign, WRITE))])).not.toThrow();
  });

  it.each<[string, DescMethod, Declared]>([
    ["READ where it has side effects", reserveSign, { ...WRITE, idempotency: Idempotency.READ }],
    [
      "another idempotency than READ where it has none",
      getSign,
      { ...READ, idempotency: Idempotency.NATURAL },
    ],
    ["no audit of a change", reserveSign, { ...WRITE, audit: Audit.NONE }],
    ["an audit of a read", getSign, { ...READ, audit: Audit.ENTRY }],
    ["the cost of a stream without one", getSign, { ...READ, costClass: CostClass.STREAM }],
    ["the cost of a read for a change", reserveSign, { ...WRITE, costClass: CostClass.READ }],
    ["the cost of a transaction for a read", getSign, { ...READ, costClass: CostClass.CHAIN }],
    ["a reach for an operator", reserveSign, { ...WRITE, access: Access.ADMIN }],
    ["a read for the holder of an ID token", getSign, { ...READ, access: Access.ID_TOKEN, reach: undefined }],
    ["a change for anyone", reserveSign, { ...WRITE, access: Access.PUBLIC, reach: undefined }],
    ["a change for readers", reserveSign, { ...WRITE, access: Access.READ }],
    [
      "a key for a stream",
      Onboarding.method.getProtocolParameters,
      { ...WRITE, costClass: CostClass.STREAM },
    ],
  ])("with %s", (_, method, declared) => {
    expect(() => checkPolicies([serviceOf(declaring(method, declared))])).toThrow(
      `${method.parent.typeName}/${method.name}`,
    );
  });
});
