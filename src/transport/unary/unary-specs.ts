import { createServiceImplSpec } from "@connectrpc/connect";
import type { ServiceRegistration } from "../service-registration.ts";
import type { UnarySpec } from "./invoke-unary.ts";

/** The unary methods by their path, `/package.Service/Method`. */
export function unarySpecsOf(services: readonly ServiceRegistration[]): Map<string, UnarySpec> {
  const specs = services.flatMap(({ service, implementation }) =>
    Object.values(createServiceImplSpec(service, implementation).methods),
  );
  return new Map(
    specs
      .filter((spec) => spec.kind === "unary")
      .map((spec) => [`/${spec.method.parent.typeName}/${spec.method.name}`, spec]),
  );
}
