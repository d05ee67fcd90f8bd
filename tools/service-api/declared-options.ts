import { type DescEnum, type DescMethod, getOption } from "@bufbuild/protobuf";
import { access, audit, cost_class, idempotency } from "../../gen/proto/tss/v1/options_pb.ts";
import { commentOf } from "../openapi/comments.ts";

/** One of the options that every method declares. */
export interface DeclaredOption {
  /** Such as `sign` for `ACCESS_SIGN`. */
  readonly value: string;
  readonly meaning: string;
}

/** The options of proto/tss/v1/options.proto. */
export interface DeclaredOptions {
  readonly access: DeclaredOption;
  readonly costClass: DeclaredOption;
  readonly idempotency: DeclaredOption;
  readonly audit: DeclaredOption;
}

/**
 * Returns the options that the method declares.
 * @param enumOf finds an enum with its comments
 * @throws Error if the method omits an option
 */
export function declaredOptions(
  method: DescMethod,
  enumOf: (typeName: string) => DescEnum | undefined,
): DeclaredOptions {
  const explain = (typeName: string, number: number): DeclaredOption => {
    const enumeration = enumOf(typeName);
    const value = enumeration?.value[number];
    if (enumeration === undefined || value === undefined || number === 0) {
      throw new Error(`${method.parent.typeName}.${method.name} does not declare its ${typeName}`);
    }
    const prefix = enumeration.sharedPrefix ?? "";
    return { value: value.name.slice(prefix.length).toLowerCase(), meaning: commentOf(value) };
  };
  return {
    access: explain("tss.v1.Access", getOption(method, access)),
    costClass: explain("tss.v1.CostClass", getOption(method, cost_class)),
    idempotency: explain("tss.v1.Idempotency", getOption(method, idempotency)),
    audit: explain("tss.v1.Audit", getOption(method, audit)),
  };
}
