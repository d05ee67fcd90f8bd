import { createFileRegistry, fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { packageCommentOf } from "../openapi/comments.ts";
import { type DocumentFrame, openApiDocument } from "../openapi/openapi-document.ts";
import type { NamedReply } from "../openapi/operation.ts";
import { OTHER_FAILURE } from "../service-api/error-replies.ts";
import { ERROR_SCHEMAS } from "../service-api/error-schemas.ts";
import { jsonReply, OPENAPI_PATH, PLAIN_TAG, plainGet } from "../service-api/plain-paths.ts";
import type { ServiceManifest } from "../service-api/service-document.ts";

/**
 * Returns the OpenAPI document of `tss signer`.
 * @param descriptorSet a google.protobuf.FileDescriptorSet of the contract, with imports and source info
 */
export function signerDocument(descriptorSet: Uint8Array, manifest: ServiceManifest): JsonObject {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const files = [...registry.files].filter((file) => file.proto.package === "tss.signer.v1");
  const frame: DocumentFrame = {
    info: {
      title: "tss signer",
      version: manifest.version,
      description: files.map(packageCommentOf).find((comment) => comment !== "") ?? "",
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [{ url: "/" }],
    tags: [PLAIN_TAG],
    paths: PLAIN_PATHS,
    components: { schemas: { ...ERROR_SCHEMAS, ErrorReason: REASON }, securitySchemes: SECURITY_SCHEMES },
    policyOf: () => ({
      notes: [],
      security: [{ token: [] }, {}],
      parameters: [],
      errors: FAILURES,
      extensions: {},
    }),
  };
  const services = files.flatMap((file) => file.services);
  return withoutRanges(describeJsonRpc(openApiDocument(services, frame)));
}

/** No reply of a signer comes in ranges, so nothing uses these headers. */
function withoutRanges(document: JsonObject): JsonObject {
  const { headers } = document["components"] as Record<string, JsonObject>;
  for (const name of ["accept-ranges", "content-range"]) delete headers![name];
  return document;
}

/** The octets of CallEthereum are JSON, which the descriptors do not tell. */
function describeJsonRpc(document: JsonObject): JsonObject {
  const { post } = (document["paths"] as Record<string, Record<string, JsonObject>>)["/v1/signer/ethereum"]!;
  const { requestBody, responses } = post as Record<string, Record<string, JsonObject>>;
  Object.assign(requestBody!, { required: true, content: JSON_RPC });
  Object.assign(responses!["200"]!, {
    description: "The reply, or one for each call of a batch.",
    content: JSON_RPC,
  });
  return document;
}

const RPC_MESSAGE: JsonObject = { type: "object", additionalProperties: true };
const JSON_RPC: JsonObject = {
  "application/json": { schema: { anyOf: [RPC_MESSAGE, { type: "array", items: RPC_MESSAGE }] } },
};

const SECURITY_SCHEMES: JsonObject = {
  token: {
    type: "http",
    scheme: "bearer",
    description: "The token of SIGNER_TOKEN_FILE. The Unix socket needs none.",
  },
};

/** A signer passes on the reasons of a service, which may be newer than the signer. */
const REASON: JsonObject = {
  type: "string",
  description:
    "The reason of a failure: a reason of the signer, such as `KEY_NOT_FOUND`, of the SDK or of the service.",
};

/** The replies of failed calls, by status. */
const FAILURES: Readonly<Record<string, NamedReply>> = {
  400: failure("BadRequest", "A field of the request is wrong, or the call does not fit the key's state."),
  401: failure("Unauthenticated", "The token is missing or wrong."),
  404: failure("NotFound", "There is no such key."),
  409: failure("Conflict", "The name or the idempotency key is in use for something else."),
  429: failure("ResourceExhausted", "The signer or the service is busy. A retry may help."),
  503: failure("Unavailable", "The service, the chain or the key file cannot be used. A retry may help."),
  default: OTHER_FAILURE,
};

function failure(name: string, description: string): NamedReply {
  return { name, reply: { ...OTHER_FAILURE.reply, description } };
}

const PLAIN_PATHS: JsonObject = {
  "/openapi.json": OPENAPI_PATH,
  "/v1/signer/health": plainGet("getHealth", "Tells that the process lives", {
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
        },
        required: ["status"],
      },
      "cache-control",
    ),
  }),
};
