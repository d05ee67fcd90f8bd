import { readFileSync } from "node:fs";
import type { JsonObject } from "@bufbuild/protobuf";
import { type DocumentFrame, openApiDocument } from "../../../../tools/openapi/openapi-document.ts";
import { headerRefs } from "../../../../tools/openapi/reply-headers.ts";
import { compileProto } from "./compile-proto.ts";

/** The parts of a document that tests read. */
export interface Document {
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: { readonly schemas: Readonly<Record<string, JsonObject>> };
}

/** The parts of an operation that tests read. */
export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly deprecated?: boolean;
  readonly parameters?: readonly { name: string; in: string; required?: boolean; schema: JsonObject }[];
  readonly requestBody?: { required: boolean; content: Readonly<Record<string, { schema: JsonObject }>> };
  readonly responses: Readonly<
    Record<string, { content?: Readonly<Record<string, { schema: JsonObject }>> }>
  >;
}

const FRAME: DocumentFrame = {
  info: { title: "Library", version: "1", license: { name: "MIT", identifier: "MIT" } },
  servers: [{ url: "/" }],
  paths: {},
  tags: [],
  components: { schemas: { "google.rpc.Status": { type: "object" } } },
  policyOf: () => ({
    notes: [],
    security: [],
    parameters: [],
    errors: {
      "4XX": { name: "Refused", reply: { description: "Refused.", headers: headerRefs("retry-after") } },
    },
    extensions: {},
  }),
};

/** Describes the services of a proto, by default the library's. @param edit changes its text first */
export function describeLibrary(edit: (proto: string) => string = (proto) => proto): Document {
  const text = readFileSync(new URL("library.proto", import.meta.url), "utf8");
  const registry = compileProto("library.proto", edit(text));
  const services = [...registry.files]
    .filter((file) => file.proto.package === "library.v1")
    .flatMap((file) => file.services);
  return openApiDocument(services, FRAME) as unknown as Document;
}
