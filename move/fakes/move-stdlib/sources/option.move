/// The part of Move's options that the Treasury and its tests use.
module std::option;

const EOptionIsSet: u64 = 0x40000;

public struct Option<Element> has copy, drop, store { vec: vector<Element> }

public fun none<Element>(): Option<Element> {
    Option { vec: vector[] }
}

public fun some<Element>(e: Element): Option<Element> {
    Option { vec: vector[e] }
}

public fun is_none<Element>(t: &Option<Element>): bool {
    t.vec.is_empty()
}

public fun is_some<Element>(t: &Option<Element>): bool {
    !t.vec.is_empty()
}

public fun borrow<Element>(t: &Option<Element>): &Element {
    &t.vec[0]
}

public fun destroy_none<Element>(t: Option<Element>) {
    assert!(t.is_none(), EOptionIsSet);
    let Option { vec } = t;
    vec.destroy_empty();
}
