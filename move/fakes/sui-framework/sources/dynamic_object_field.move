module sui::dynamic_object_field;

use sui::dynamic_field as field;

public fun add<Name: copy + drop + store, Value: key + store>(object: &mut UID, name: Name, value: Value) {
    field::add(object, name, value)
}

public fun borrow<Name: copy + drop + store, Value: key + store>(object: &UID, name: Name): &Value {
    field::borrow(object, name)
}

public fun remove<Name: copy + drop + store, Value: key + store>(object: &mut UID, name: Name): Value {
    field::remove(object, name)
}

public fun exists_<Name: copy + drop + store>(object: &UID, name: Name): bool {
    field::exists_(object, name)
}
