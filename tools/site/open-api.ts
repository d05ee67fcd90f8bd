/** The parts of an OpenAPI 3.1 document that its pages show. */
export interface OpenApi {
  readonly tags: readonly { readonly name: string; readonly description: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly parameters: Readonly<Record<string, Parameter>>;
    readonly responses: Readonly<Record<string, Reply>>;
  };
}

export interface Operation {
  readonly operationId: string;
  readonly description?: string;
  readonly summary: string;
  readonly tags: readonly string[];
  readonly parameters?: readonly (Parameter | Reference)[];
  readonly requestBody?: Body;
  readonly responses: Readonly<Record<string, Reply | Reference>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: string;
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
}

export interface Reply extends Body {
  readonly description: string;
  readonly "x-reasons"?: readonly string[];
}

export interface Body {
  readonly content?: Readonly<Record<string, { readonly schema: Schema }>>;
}

export interface Reference {
  readonly $ref: string;
}

export interface Schema extends Partial<Reference> {
  readonly type?: string;
  readonly description?: string;
  readonly format?: string;
  readonly contentEncoding?: string;
  readonly enum?: readonly string[];
  readonly items?: Schema;
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Schema | boolean;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly minimum?: number;
  readonly maximum?: number;
}
