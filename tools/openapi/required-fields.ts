import { create, type DescField, type DescMessage, type DescOneof } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";

const validator = createValidator();

/**
 * Returns the fields and oneofs that a request must have, because their absence violates a rule. protovalidate itself
 * decides, as in the server: an absent field without presence is its zero value, to which its rules apply.
 */
export function requiredIn(message: DescMessage): ReadonlySet<DescField | DescOneof> {
  const { violations = [] } = validator.validate(message, create(message));
  const required = new Set<DescField | DescOneof>();
  for (const { field: path } of violations) {
    const [first, ...rest] = path;
    if (rest.length === 0 && (first?.kind === "field" || first?.kind === "oneof")) required.add(first);
  }
  return required;
}
