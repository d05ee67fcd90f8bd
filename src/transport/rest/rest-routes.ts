import { type DescField, type DescMessage, type DescMethod, getOption, hasOption } from "@bufbuild/protobuf";
import { createServiceImplSpec, type MethodImplSpec } from "@connectrpc/connect";
import { http } from "../../../gen/proto/google/api/annotations_pb.ts";
import type { HttpRule } from "../../../gen/proto/google/api/http_pb.ts";
import type { ServiceRegistration } from "../service-registration.ts";
import { type FieldPath, findField, resolveFieldPath } from "./field-path.ts";
import { createPathRouter, type PathRouter } from "./path-router.ts";

/** Where a route's request message comes from beside path and query. */
export type BodyRule =
  | { readonly kind: "none" }
  | { readonly kind: "message" }
  | { readonly kind: "field"; readonly field: DescField };

/** One HTTP binding of a method. */
export interface RestRoute {
  readonly spec: MethodImplSpec;
  readonly body: BodyRule;
  /** The field of the reply that is the reply's body; the whole message when there is none. */
  readonly responseField: DescField | undefined;
  /** The template's variables, by their text in it. */
  readonly variables: (name: string) => FieldPath;
}

/**
 * Builds the routes of all methods with a google.api.http annotation, additional bindings included.
 * @throws Error for a rule that does not fit its method
 */
export function createRestRouter(services: readonly ServiceRegistration[]): PathRouter<RestRoute> {
  const router = createPathRouter<RestRoute>();
  for (const { service, implementation } of services) {
    const { methods } = createServiceImplSpec(service, implementation);
    for (const method of service.methods) {
      const spec = methods[method.localName];
      if (spec === undefined || !hasOption(method, http)) continue;
      const rule = getOption(method, http);
      for (const one of [rule, ...rule.additionalBindings]) addRule(router, spec, one);
    }
  }
  return router;
}

function addRule(router: PathRouter<RestRoute>, spec: MethodImplSpec, rule: HttpRule): void {
  const { method } = spec;
  const { pattern } = rule;
  if (pattern.case === undefined) throw misfit(method, "it has no pattern");
  if (method.methodKind === "client_streaming" || method.methodKind === "bidi_streaming") {
    throw misfit(method, "client streams have no form over REST");
  }
  const [httpMethod, template] =
    pattern.case === "custom"
      ? [pattern.value.kind, pattern.value.path]
      : [pattern.case.toUpperCase(), pattern.value];
  const variables = (name: string) => {
    const path = resolveFieldPath(method.input, name);
    if (path === undefined) throw misfit(method, `there is no field ${name}`);
    return path;
  };
  for (const [, name = ""] of template.matchAll(/\{([^}=]*)/g)) variables(name);
  router.add(httpMethod, template, {
    spec,
    body: bodyRule(method, rule.body),
    responseField:
      rule.responseBody === "" ? undefined : fieldNamed(method, method.output, rule.responseBody),
    variables,
  });
}

function bodyRule(method: DescMethod, body: string): BodyRule {
  if (body === "") return { kind: "none" };
  if (body === "*") return { kind: "message" };
  return { kind: "field", field: fieldNamed(method, method.input, body) };
}

function fieldNamed(method: DescMethod, message: DescMessage, name: string): DescField {
  const field = findField(message, name);
  if (field === undefined) throw misfit(method, `there is no field ${name}`);
  return field;
}

function misfit(method: DescMethod, why: string): Error {
  return new Error(
    `the google.api.http rule of ${method.parent.typeName}/${method.name} does not fit: ${why}`,
  );
}
