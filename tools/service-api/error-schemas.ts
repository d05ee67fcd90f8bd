import type { JsonObject } from "@bufbuild/protobuf";
import { ERROR_CATALOGUE } from "../../src/service/platform/errors/catalogue.ts";
import { ERROR_DOMAIN } from "../../src/service/platform/errors/error-mapping.ts";

/** The body of every error over REST: google.rpc.Status with the details that the service sends. */
export const ERROR_SCHEMAS: JsonObject = {
  "google.rpc.Status": {
    type: "object",
    description: "Why a call failed. Program against the reason in the ErrorInfo among its details.",
    properties: {
      code: { type: "integer", format: "int32", description: "The number of a google.rpc.Code." },
      message: { type: "string", description: "For people; its wording may change." },
      details: {
        type: "array",
        items: {
          anyOf: ["ErrorInfo", "BadRequest", "RetryInfo"].map((name) => ({
            $ref: `#/components/schemas/google.rpc.${name}`,
          })),
        },
      },
    },
    required: ["code", "message", "details"],
  },
  "google.rpc.ErrorInfo": detail(
    "ErrorInfo",
    "What went wrong, for programs. Every error has one.",
    {
      reason: { $ref: "#/components/schemas/ErrorReason" },
      domain: { type: "string", const: ERROR_DOMAIN },
      metadata: {
        type: "object",
        additionalProperties: { type: "string" },
        description: "More about this failure.",
      },
    },
    ["reason", "domain"],
  ),
  "google.rpc.BadRequest": detail(
    "BadRequest",
    "Which fields of the request are wrong.",
    {
      fieldViolations: {
        type: "array",
        items: {
          type: "object",
          properties: {
            field: {
              type: "string",
              description: "Path of the field in proto names, such as `items[0].name`.",
            },
            description: { type: "string", description: "What is wrong with it." },
          },
        },
      },
    },
    ["fieldViolations"],
  ),
  "google.rpc.RetryInfo": detail(
    "RetryInfo",
    "After how long the same call may succeed.",
    {
      retryDelay: {
        type: "string",
        pattern: "^[0-9]+(?:\\.[0-9]{1,9})?s$",
        description: "Seconds, ending in `s`. The header `retry-after` has them rounded up.",
      },
    },
    ["retryDelay"],
  ),
  ErrorReason: {
    type: "string",
    description: Object.entries(ERROR_CATALOGUE)
      .map(([reason, { meaning }]) => `- \`${reason}\`: ${meaning}`)
      .join("\n"),
    enum: Object.keys(ERROR_CATALOGUE),
  },
};

function detail(
  name: string,
  description: string,
  properties: JsonObject,
  required: readonly string[],
): JsonObject {
  const type = { type: "string", const: `type.googleapis.com/google.rpc.${name}` };
  return {
    type: "object",
    description,
    properties: { "@type": type, ...properties },
    required: ["@type", ...required],
  };
}
