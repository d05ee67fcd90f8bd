import type { JsonObject } from "@bufbuild/protobuf";
import { headerRefs } from "../openapi/reply-headers.ts";
import { OTHER_FAILURE } from "./error-replies.ts";

/** The tag of routes that are not RPCs. */
export const PLAIN_TAG: JsonObject = { name: "Service", description: "The service itself." };

const TEXT: JsonObject = { type: "string" };

/** The route of the document itself. */
export const OPENAPI_PATH: JsonObject = plainGet(
  "getOpenApi",
  "This document",
  {
    200: jsonReply("The document.", { type: "object", additionalProperties: true }, "cache-control", "etag"),
    304: {
      description: "The document named in `if-none-match` still holds.",
      headers: headerRefs("cache-control", "etag", "x-request-id"),
    },
  },
  [
    {
      name: "if-none-match",
      in: "header",
      description: "An `etag`, for a reply without a body if it holds.",
      schema: TEXT,
    },
  ],
);

/** The routes that are not RPCs. */
export const PLAIN_PATHS: JsonObject = {
  "/v1/health": plainGet("getHealth", "Tells that the process lives", {
    200: jsonReply(
      "It lives.",
      {
        type: "object",
        properties: {
          status: {
            type: "string",
            enum: ["ok", "draining"],
            description: "`draining`: it is about to stop.",
          },
          version: { type: "string", description: "The version of the service." },
          commit: {
            type: "string",
            pattern: "^[0-9a-f]{40}(-dirty)?$",
            description:
              "The git commit of the build; `-dirty` marks a build with uncommitted changes. Absent if the build does not know it.",
          },
          uptimeSeconds: { type: "integer", minimum: 0, description: "Since the process started." },
        },
        required: ["status", "version", "uptimeSeconds"],
      },
      "cache-control",
    ),
  }),
  "/v1/ready": plainGet("getReady", "Tells whether this replica takes calls", {
    200: jsonReply("It takes calls.", readiness("Which may be degraded.")),
    503: jsonReply("It is starting or stopping, or cannot reach its database.", readiness("")),
  }),
  "/openapi.json": OPENAPI_PATH,
};

/** Its checks are for people and dashboards, so each may have more fields than are fixed here. */
function readiness(description: string): JsonObject {
  return {
    type: "object",
    ...(description === "" ? {} : { description }),
    properties: {
      status: TEXT,
      checks: { type: "array", items: { type: "object", additionalProperties: true } },
    },
    required: ["status", "checks"],
    additionalProperties: true,
  };
}

/** A route that is not an RPC and needs no key. */
export function plainGet(
  operationId: string,
  summary: string,
  replies: JsonObject,
  parameters: readonly JsonObject[] = [],
): JsonObject {
  return {
    get: {
      operationId,
      summary,
      tags: ["Service"],
      security: [],
      ...(parameters.length === 0 ? {} : { parameters: [...parameters] }),
      responses: { ...replies, default: { $ref: `#/components/responses/${OTHER_FAILURE.name}` } },
    },
  };
}

/** A reply with a JSON body. */
export function jsonReply(
  description: string,
  schema: JsonObject,
  ...headers: readonly string[]
): JsonObject {
  return {
    description,
    headers: headerRefs(...headers, "x-request-id"),
    content: { "application/json": { schema } },
  };
}
