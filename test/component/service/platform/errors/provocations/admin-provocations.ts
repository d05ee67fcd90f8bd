import type { DescMethod } from "@bufbuild/protobuf";
import { Admin } from "../../../../../../gen/proto/tss/v1/admin_pb.ts";
import { newId } from "../../../../../../src/service/platform/store/database.ts";
import { ADMIN_KEY } from "../error-stack.ts";
import type { Provocation } from "./provocation.ts";

const {
  createApiKey,
  listApiKeys,
  revokeApiKey,
  adjustCredit,
  listAuditEvents,
  createProject,
  getAuditProof,
  inspectSubject,
} = Admin.method;
const { rotateApiKey, setAllowedAddresses, setAllowedOrigins, createAdminKey, revokeAdminKey, getTreasury } =
  Admin.method;

const unknownProject = (method: DescMethod, request: Record<string, string | string[]> = {}): Provocation => {
  const projectId = newId();
  return {
    how: `a project that the network has not, of ${method.name}`,
    provoke: (_stack, client) => client.call({ method, key: ADMIN_KEY, request: { projectId, ...request } }),
    metadata: { projectId },
  };
};

const unknownApiKeyId = newId();
const unknownAdminKeyId = newId();
const unknownSubjectId = newId();

const unknownApiKey = (method: DescMethod): Provocation => ({
  how: `a key that no project has, of ${method.name}`,
  provoke: (_stack, client) =>
    client.call({ method, key: ADMIN_KEY, request: { apiKeyId: unknownApiKeyId } }),
  metadata: { apiKeyId: unknownApiKeyId },
});

/** Refusals of an operator's calls about projects, keys and credit. */
export const ADMIN_PROVOCATIONS = {
  PROJECT_NOT_FOUND: [
    unknownProject(createApiKey, { name: "key", scopes: ["read"] }),
    unknownProject(listApiKeys),
    unknownProject(adjustCredit, { amountMicroUsd: "1", reason: "test" }),
    unknownProject(listAuditEvents),
  ],
  API_KEY_NOT_FOUND: [
    unknownApiKey(revokeApiKey),
    unknownApiKey(rotateApiKey),
    unknownApiKey(setAllowedAddresses),
    unknownApiKey(setAllowedOrigins),
  ],
  ADMIN_KEY_NOT_FOUND: [
    {
      how: "an admin key that there is not",
      provoke: (_stack, client) =>
        client.call({ method: revokeAdminKey, key: ADMIN_KEY, request: { adminKeyId: unknownAdminKeyId } }),
      metadata: { adminKeyId: unknownAdminKeyId },
    },
  ],
  ADMIN_KEY_NAME_TAKEN: [
    {
      how: "a second admin key of one name",
      async provoke(stack, client) {
        await stack.newAdminKey("taken").catch(() => "by the other client");
        return client.call({ method: createAdminKey, key: ADMIN_KEY, request: { name: "taken" } });
      },
      metadata: { name: "taken" },
    },
  ],
  WRONG_STATE: [
    {
      how: "a key that is to be rotated and was revoked",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject();
        await stack.newKey({ projectId, isRevoked: true });
        const [key] = await stack.database.query<{ apiKeyId: string }>(
          `SELECT id AS "apiKeyId" FROM api_key WHERE project_id = $1 AND revoked_at IS NOT NULL`,
          [projectId],
        );
        return client.call({ method: rotateApiKey, key: ADMIN_KEY, request: { ...key } });
      },
      metadata: { state: "revoked" },
    },
  ],
  CHAIN_UNAVAILABLE: [
    {
      how: "the Treasury while the fullnode does not answer",
      provoke: (stack, client) =>
        stack.fullnode.down(() => client.call({ method: getTreasury, key: ADMIN_KEY })),
    },
  ],
  AUDIT_EVENT_NOT_FOUND: [
    {
      how: "an event that there is not",
      provoke: (_stack, client) =>
        client.call({ method: getAuditProof, key: ADMIN_KEY, request: { auditEventId: "999999999" } }),
      metadata: { auditEventId: "999999999" },
    },
  ],
  SUBJECT_NOT_FOUND: [
    {
      how: "the story of something that there is not",
      provoke: (_stack, client) =>
        client.call({ method: inspectSubject, key: ADMIN_KEY, request: { subjectId: unknownSubjectId } }),
      metadata: { subjectId: unknownSubjectId },
    },
  ],
  INSUFFICIENT_CREDIT: [
    {
      how: "more taken away than a project has",
      async provoke(stack, client) {
        const { projectId } = await stack.newProject(10n);
        const request = { projectId, amountMicroUsd: "-11", reason: "test" };
        return client.call({ method: adjustCredit, key: ADMIN_KEY, request });
      },
    },
  ],
  IDEMPOTENCY_KEY_REUSED: [
    {
      how: "another project with the same idempotency key",
      async provoke(_stack, client) {
        const headers = { "idempotency-key": newId() };
        const call = { method: createProject, key: ADMIN_KEY, headers };
        await client.call({ ...call, request: { name: "one" } });
        return client.call({ ...call, request: { name: "another" } });
      },
      metadata: { method: "tss.v1.Admin/CreateProject" },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
