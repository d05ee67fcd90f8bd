import { readFileSync } from "node:fs";
import { getOption, hasOption } from "@bufbuild/protobuf";
import { describe, expect, it } from "vitest";
import { http } from "../../../../gen/proto/google/api/annotations_pb.ts";
import { Account } from "../../../../gen/proto/tss/v1/account_pb.ts";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { Billing } from "../../../../gen/proto/tss/v1/billing_pb.ts";
import { Events } from "../../../../gen/proto/tss/v1/events_pb.ts";
import { Identity } from "../../../../gen/proto/tss/v1/identity_pb.ts";
import { Onboarding } from "../../../../gen/proto/tss/v1/onboarding_pb.ts";
import { Operations } from "../../../../gen/proto/tss/v1/operations_pb.ts";
import { Receipts } from "../../../../gen/proto/tss/v1/receipts_pb.ts";
import { Sessions } from "../../../../gen/proto/tss/v1/sessions_pb.ts";
import { Sharing } from "../../../../gen/proto/tss/v1/sharing_pb.ts";
import { Signing } from "../../../../gen/proto/tss/v1/signing_pb.ts";
import { Users } from "../../../../gen/proto/tss/v1/users_pb.ts";
import { Webhooks } from "../../../../gen/proto/tss/v1/webhooks_pb.ts";
import { methodPolicy } from "../../../../src/service/access/method-policy.ts";
import { ERROR_CATALOGUE } from "../../../../src/service/platform/errors/catalogue.ts";
import { registerService } from "../../../../src/transport/calls/service-registration.ts";
import { createRestRouter } from "../../../../src/transport/rest/rest-routes.ts";
import { faultsOf } from "../../../support/repository/check-openapi.ts";

interface Operation {
  readonly operationId: string;
  readonly tags: readonly string[];
  readonly description: string;
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters?: readonly { readonly $ref?: string }[];
  readonly responses: Readonly<Record<string, { readonly $ref?: string }>>;
}

interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, { readonly enum?: readonly string[] }>>;
    readonly responses: Readonly<Record<string, { readonly "x-reasons"?: readonly string[] }>>;
  };
}

const document = JSON.parse(
  readFileSync(new URL("../../../../gen/openapi.json", import.meta.url), "utf8"),
) as Document;
const SERVICES = [
  Account,
  Admin,
  Billing,
  Events,
  Webhooks,
  Identity,
  Onboarding,
  Operations,
  Receipts,
  Sessions,
  Sharing,
  Signing,
  Users,
];
/** Routes that are not RPCs. */
const PLAIN = ["/openapi.json", "/v1/health", "/v1/ready"];

const operations = Object.entries(document.paths).flatMap(([path, item]) =>
  Object.entries(item).map(([verb, operation]) => ({ path, verb, operation })),
);

function operationOf(operationId: string): Operation {
  const found = operations.find(({ operation }) => operation.operationId === operationId);
  if (found === undefined) throw new Error(`there is no operation ${operationId}`);
  return found.operation;
}

/** The reasons of each error status. */
function reasonsOf(operationId: string): Record<string, readonly string[]> {
  const { responses } = operationOf(operationId);
  const errors = Object.entries(responses).filter(([, reply]) => reply.$ref !== undefined);
  return Object.fromEntries(
    errors.map(([status, reply]) => {
      const name = reply.$ref?.split("/").at(-1) ?? "";
      return [status, document.components.responses[name]?.["x-reasons"] ?? []];
    }),
  );
}

describe("the OpenAPI document", () => {
  it("is valid according to other projects' validators", async () => {
    const faults = await faultsOf(document);
    // A caller of these routes cannot make a mistake, so they have no 4xx reply.
    const expected = PLAIN.map((path) => `operation-4xx-response at #/paths/${path.replaceAll("/", "~1")}/`);
    expect(faults.filter((fault) => !expected.some((start) => fault.startsWith(start)))).toEqual([]);
  });

  it("has only operations that the server routes to their method", () => {
    const router = createRestRouter(SERVICES.map((service) => registerService(service, {})));
    for (const { path, verb, operation } of operations.filter((one) => !PLAIN.includes(one.path))) {
      const match = router.match(verb.toUpperCase(), path.replaceAll(/\{[^}]*\}/g, "some-id"));
      const { parent, localName } = match?.value.spec.method ?? {};
      expect([parent?.name, localName]).toEqual([operation.tags[0], operation.operationId]);
    }
    expect(operations.length).toBeGreaterThan(PLAIN.length);
  });

  it("has every route of the server", () => {
    const routes = SERVICES.flatMap(({ methods }) => methods)
      .filter((method) => hasOption(method, http))
      .flatMap((method) => [getOption(method, http), ...getOption(method, http).additionalBindings])
      .map(({ pattern }) => `${pattern.case} ${String(pattern.value)}`);
    const described = operations.map(({ verb, path }) => `${verb} ${path}`);
    expect(described.sort()).toEqual([...routes, ...PLAIN.map((path) => `get ${path}`)].sort());
  });

  it("requires the same key and scope as the gate", () => {
    for (const method of SERVICES.flatMap(({ methods }) => methods)) {
      const policy = methodPolicy(method);
      const { security } = operationOf(method.localName);
      if (policy.access === "public" || policy.access === "idToken") expect(security).toEqual([]);
      if (policy.access === "admin") expect(security).toEqual([{ adminKey: [] }, { adminKeyHeader: [] }]);
      if (policy.access === "project") {
        const { scope } = policy;
        // The scope `sign` includes `propose`.
        const roles = scope === "any" ? [[]] : scope === "propose" ? [["sign"], ["propose"]] : [[scope]];
        expect(security).toEqual(roles.flatMap((each) => [{ projectKey: each }, { projectKeyHeader: each }]));
        const meaning = scope === "any" ? "whatever its scopes" : `the scope \`${scope}\``;
        expect(operationOf(method.localName).description).toContain(meaning);
      }
    }
  });

  it("accepts an idempotency key where the contract has one", () => {
    const keyed = operations.filter(({ operation }) =>
      operation.parameters?.some(({ $ref }) => $ref === "#/components/parameters/idempotency-key"),
    );
    expect(keyed.map(({ operation }) => operation.operationId)).toContain("reserveSign");
    expect(keyed.map(({ operation }) => operation.operationId)).not.toContain("submitSign");
  });

  it("has every reason of the catalogue, and lists under each status those of the call", () => {
    expect(document.components.schemas["ErrorReason"]?.enum).toEqual(Object.keys(ERROR_CATALOGUE));
    expect(reasonsOf("reserveSign")).toMatchObject({
      400: expect.arrayContaining(["VALIDATION", "MESSAGE_TOO_LARGE", "INSUFFICIENT_CREDIT"]),
      401: expect.arrayContaining(["MISSING_KEY", "NETWORK_MISMATCH"]),
      403: expect.arrayContaining(["SCOPE_MISSING"]),
      404: ["DWALLET_NOT_FOUND"],
      413: ["BODY_TOO_LARGE"],
      422: ["IDEMPOTENCY_KEY_REUSED"],
      503: expect.arrayContaining(["PRESIGN_POOL_EMPTY"]),
      default: [],
    });
    const network = reasonsOf("getNetwork");
    expect(Object.keys(network)).not.toEqual(expect.arrayContaining(["401"]));
    expect(Object.keys(network)).not.toEqual(expect.arrayContaining(["404"]));
    expect(reasonsOf("createDWallet")).toMatchObject({ 404: ["ENCRYPTION_KEY_NOT_FOUND"] });
  });
});
