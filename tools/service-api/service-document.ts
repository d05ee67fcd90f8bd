import { createFileRegistry, type DescService, fromBinary, type JsonObject } from "@bufbuild/protobuf";
import { FileDescriptorSetSchema } from "@bufbuild/protobuf/wkt";
import { packageCommentOf } from "../openapi/comments.ts";
import type { HttpBinding } from "../openapi/http-bindings.ts";
import { openApiDocument } from "../openapi/openapi-document.ts";
import type { OperationPolicy } from "../openapi/operation.ts";
import { HEADER_PARAMETERS, SECURITY_SCHEMES, securityOf } from "./access-policy.ts";
import { declaredOptions } from "./declared-options.ts";
import { errorReplies } from "./error-replies.ts";
import { ERROR_SCHEMAS } from "./error-schemas.ts";
import { PLAIN_PATHS, PLAIN_TAG } from "./plain-paths.ts";

/** The fields of package.json that describe the service. */
export interface ServiceManifest {
  readonly name: string;
  readonly version: string;
  readonly license: string;
}

const PACKAGE = "tss.v1";

/**
 * Returns the OpenAPI document of the service.
 * @param descriptorSet a google.protobuf.FileDescriptorSet of the contract, with imports and source info
 */
export function serviceDocument(descriptorSet: Uint8Array, manifest: ServiceManifest): JsonObject {
  const registry = createFileRegistry(fromBinary(FileDescriptorSetSchema, descriptorSet));
  const files = [...registry.files].filter((file) => file.proto.package === PACKAGE);
  const services = files.flatMap((file) => file.services).sort((a, b) => (a.name < b.name ? -1 : 1));
  const policyOf = (binding: HttpBinding): OperationPolicy => {
    const options = declaredOptions(binding.method, (typeName) => registry.getEnum(typeName));
    const isKeyed = options.idempotency.value === "keyed";
    const headers = isKeyed ? ["idempotency-key", "x-network"] : ["x-network"];
    return {
      notes: [`- Access: ${options.access.meaning}\n- Repeats: ${options.idempotency.meaning}`],
      security: securityOf(binding.method),
      parameters: headers.map((name) => ({ $ref: `#/components/parameters/${name}` })),
      errors: errorReplies({ binding, options }),
      extensions: {
        "x-access": options.access.value,
        "x-audit": options.audit.value,
        "x-cost-class": options.costClass.value,
        "x-idempotency": options.idempotency.value,
      },
    };
  };
  return openApiDocument(services satisfies readonly DescService[], {
    info: {
      title: manifest.name,
      version: manifest.version,
      description: files.map(packageCommentOf).find((comment) => comment !== "") ?? "",
      license: { name: manifest.license, identifier: manifest.license },
    },
    servers: [{ url: "/" }],
    tags: [PLAIN_TAG],
    paths: PLAIN_PATHS,
    components: {
      parameters: HEADER_PARAMETERS,
      schemas: ERROR_SCHEMAS,
      securitySchemes: SECURITY_SCHEMES,
    },
    policyOf,
  });
}
