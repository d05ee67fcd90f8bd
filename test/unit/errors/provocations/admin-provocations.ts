import type { DescMethod } from "@bufbuild/protobuf";
import { Admin } from "../../../../gen/proto/tss/v1/admin_pb.ts";
import { newId } from "../../../../src/store/ids.ts";
import { ADMIN_KEY } from "../error-stack.ts";
import type { Provocation } from "./provocation.ts";

const { createApiKey, listApiKeys, revokeApiKey, adjustCredit, listAuditEvents, createProject } =
  Admin.method;

const unknownProject = (method: DescMethod, request: Record<string, string | string[]> = {}): Provocation => {
  const projectId = newId();
  return {
    how: `a project that the network has not, of ${method.name}`,
    provoke: (_stack, face) => face.call({ method, key: ADMIN_KEY, request: { projectId, ...request } }),
    metadata: { projectId },
  };
};

const unknownApiKeyId = newId();

/** Why an operator's call about projects, keys and credit is refused. */
export const ADMIN_PROVOCATIONS = {
  PROJECT_NOT_FOUND: [
    unknownProject(createApiKey, { name: "key", scopes: ["read"] }),
    unknownProject(listApiKeys),
    unknownProject(adjustCredit, { amountMicroUsd: "1", reason: "test" }),
    unknownProject(listAuditEvents),
  ],
  API_KEY_NOT_FOUND: [
    {
      how: "a key that no project has",
      provoke: (_stack, face) =>
        face.call({ method: revokeApiKey, key: ADMIN_KEY, request: { apiKeyId: unknownApiKeyId } }),
      metadata: { apiKeyId: unknownApiKeyId },
    },
  ],
  INSUFFICIENT_CREDIT: [
    {
      how: "more taken away than a project has",
      async provoke(stack, face) {
        const { projectId } = await stack.newProject(10n);
        const request = { projectId, amountMicroUsd: "-11", reason: "test" };
        return face.call({ method: adjustCredit, key: ADMIN_KEY, request });
      },
    },
  ],
  IDEMPOTENCY_KEY_REUSED: [
    {
      how: "another project with the same idempotency key",
      async provoke(_stack, face) {
        const headers = { "idempotency-key": newId() };
        const call = { method: createProject, key: ADMIN_KEY, headers };
        await face.call({ ...call, request: { name: "one" } });
        return face.call({ ...call, request: { name: "another" } });
      },
      metadata: { method: "tss.v1.Admin/CreateProject" },
    },
  ],
} as const satisfies Record<string, readonly Provocation[]>;
