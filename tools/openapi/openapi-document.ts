import type { DescMethod, DescService, JsonObject } from "@bufbuild/protobuf";
import { commentOf } from "./comments.ts";
import { type ComponentSchemas, createComponentSchemas } from "./component-schemas.ts";
import { type HttpBinding, httpBindings } from "./http-bindings.ts";
import { type OperationPolicy, operation } from "./operation.ts";
import { documentedPath } from "./path-parameters.ts";
import { REPLY_HEADERS } from "./reply-headers.ts";

/** The parts of a document that do not follow from services. */
export interface DocumentFrame {
  readonly info: JsonObject;
  readonly servers: readonly JsonObject[];
  /** Paths in addition to those of the services. */
  readonly paths: JsonObject;
  readonly tags: readonly JsonObject[];
  /** Components in addition to those of the services. They must include the schema `google.rpc.Status`. */
  readonly components: Readonly<Record<string, JsonObject>>;
  readonly policyOf: (binding: HttpBinding) => OperationPolicy;
}

/**
 * Describes the google.api.http bindings of services as an OpenAPI 3.1 document. The same input makes the same
 * document: paths, schemas and other maps are sorted by name.
 * @param services from a descriptor set with source info, which contains the comments
 * @throws Error for a binding that cannot be described
 */
export function openApiDocument(services: readonly DescService[], frame: DocumentFrame): JsonObject {
  const methods = services.flatMap((service) => service.methods);
  const bindings = methods.flatMap(httpBindings);
  const schemas = createComponentSchemas(
    new Set(services.map(({ file }) => file.proto.package)),
    bindings.map(({ method }) => method.output),
  );
  const policies = new Map(bindings.map((binding) => [binding, frame.policyOf(binding)]));
  const replies = [...policies.values()].flatMap(({ errors }) => Object.values(errors));
  const paths = servicePaths(policies, schemas);
  const { schemas: otherSchemas, responses: otherReplies, ...components } = frame.components;
  return {
    openapi: "3.1.1",
    info: frame.info,
    servers: [...frame.servers],
    tags: [...services.map(tag), ...frame.tags],
    paths: sorted({ ...paths, ...frame.paths }),
    components: sorted({
      ...components,
      headers: sorted(REPLY_HEADERS),
      responses: sorted({
        ...otherReplies,
        ...Object.fromEntries(replies.map(({ name, reply }) => [name, reply])),
      }),
      schemas: sorted({ ...otherSchemas, ...schemas.all() }),
    }),
  };
}

function servicePaths(
  policies: ReadonlyMap<HttpBinding, OperationPolicy>,
  schemas: ComponentSchemas,
): JsonObject {
  const paths: Record<string, JsonObject> = {};
  const namesByShape = new Map<string, string[]>();
  const idOf = operationIds([...policies.keys()]);
  for (const [binding, policy] of policies) {
    const documented = documentedPath(binding, schemas, (shape) => namesByShape.get(shape));
    const { path, shape, parameters } = documented;
    namesByShape.set(
      shape,
      parameters.map(({ name }) => name),
    );
    const item = paths[path] ?? {};
    paths[path] = item;
    if (binding.verb in item) throw new Error(`two bindings are ${binding.verb} ${path}`);
    item[binding.verb] = operation(binding, documented, idOf(binding), schemas, policy);
  }
  return paths;
}

/**
 * Returns the method's name, with a prefix of the service's name if two services have the method, and a number as the
 * suffix for additional bindings.
 */
function operationIds(bindings: readonly HttpBinding[]): (binding: HttpBinding) => string {
  const methods = new Map<string, Set<DescMethod>>();
  for (const { method } of bindings) {
    methods.set(method.localName, (methods.get(method.localName) ?? new Set()).add(method));
  }
  return ({ method, index }) => {
    const isAlone = methods.get(method.localName)?.size === 1;
    const service = method.parent.name.replace(/^./, (first) => first.toLowerCase());
    return `${isAlone ? method.localName : service + method.name}${index === 0 ? "" : index + 1}`;
  };
}

function tag(service: DescService): JsonObject {
  const description = commentOf(service);
  return { name: service.name, ...(description === "" ? {} : { description }) };
}

function sorted(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).sort(([a], [b]) => (a < b ? -1 : 1)));
}
