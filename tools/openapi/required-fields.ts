import { create, type DescField, type DescMessage, type DescOneof } from "@bufbuild/protobuf";
import { createValidator } from "@bufbuild/protovalidate";

const validator = createValidator();

/**
 * What a request may not leave out: its fields and oneofs whose absence breaks a rule. protovalidate itself decides, as
 * it does in the server: an absent field without presence is its zero value, and its rules hold for that too.
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
