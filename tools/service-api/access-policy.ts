import type { DescMethod, JsonObject, JsonValue } from "@bufbuild/protobuf";
import { methodPolicy } from "../../src/service/access/method-policy.ts";

/** How keys are sent: in either header; `authorization` wins if both are present. */
export const SECURITY_SCHEMES: JsonObject = {
  adminKey: { type: "http", scheme: "bearer", description: "An operator's admin key." },
  adminKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "An operator's admin key.",
  },
  projectKey: {
    type: "http",
    scheme: "bearer",
    bearerFormat: "tss_<local|test|live|session>_<secret>",
    description:
      "A project's API key, or the token of a session. It belongs to one network; the roles are its scopes.",
  },
  projectKeyHeader: {
    type: "apiKey",
    in: "header",
    name: "x-api-key",
    description: "A project's API key. It belongs to one network; the roles are its scopes.",
  },
};

/** Request headers, for `components`. */
export const HEADER_PARAMETERS: JsonObject = {
  "idempotency-key": {
    name: "idempotency-key",
    in: "header",
    description:
      "Names this call, for 24 hours: the same call again answers with the same reply, another one with this key is refused. Take a fresh UUID for each.",
    schema: { type: "string", minLength: 1 },
  },
  "x-network": {
    name: "x-network",
    in: "header",
    description:
      "The network that is meant. Must agree with a project's key, and is required without one where more than one network is served.",
    schema: { type: "string", enum: ["localnet", "testnet", "mainnet"] },
  },
};

/** The callers that may call the method, as OpenAPI's security requirements; a key's scope is a role. */
export function securityOf(method: DescMethod): JsonValue[] {
  const required = methodPolicy(method);
  switch (required.access) {
    case "public":
    case "idToken":
      return [];
    case "admin":
      return [{ adminKey: [] }, { adminKeyHeader: [] }];
    case "project": {
      const scopes = required.scope === "propose" ? ["sign", "propose"] : [required.scope];
      return scopes.flatMap((scope) => {
        const roles = scope === "any" ? [] : [scope];
        return [{ projectKey: roles }, { projectKeyHeader: roles }];
      });
    }
  }
}
