//! How a row type becomes Arrow columns: one trait for the cell types, one
//! macro that makes a table out of a documented struct.

use std::sync::Arc;

use arrow_array::types::{Float64Type, Int64Type, UInt8Type, UInt16Type, UInt32Type, UInt64Type};
use arrow_array::{ArrayRef, BooleanArray, PrimitiveArray, StringArray};
use arrow_schema::DataType;

/// A type that a table cell may have.
pub trait Cell: Sized {
    const NULLABLE: bool;
    fn data_type() -> DataType;
    fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef;
}

macro_rules! number_cell {
    ($type:ty, $arrow:ty, $data_type:ident) => {
        impl Cell for $type {
            const NULLABLE: bool = false;
            fn data_type() -> DataType {
                DataType::$data_type
            }
            fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef {
                Arc::new(PrimitiveArray::<$arrow>::from_iter_values(rows.iter().map(|r| *cell(r))))
            }
        }
        impl Cell for Option<$type> {
            const NULLABLE: bool = true;
            fn data_type() -> DataType {
                DataType::$data_type
            }
            fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef {
                Arc::new(rows.iter().map(|r| *cell(r)).collect::<PrimitiveArray<$arrow>>())
            }
        }
    };
}

number_cell!(u8, UInt8Type, UInt8);
number_cell!(u16, UInt16Type, UInt16);
number_cell!(u32, UInt32Type, UInt32);
number_cell!(u64, UInt64Type, UInt64);
number_cell!(i64, Int64Type, Int64);
number_cell!(f64, Float64Type, Float64);

impl Cell for bool {
    const NULLABLE: bool = false;
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef {
        Arc::new(rows.iter().map(|r| Some(*cell(r))).collect::<BooleanArray>())
    }
}

impl Cell for Option<bool> {
    const NULLABLE: bool = true;
    fn data_type() -> DataType {
        DataType::Boolean
    }
    fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef {
        Arc::new(rows.iter().map(|r| *cell(r)).collect::<BooleanArray>())
    }
}

macro_rules! text_cell {
    ($type:ty) => {
        impl Cell for $type {
            const NULLABLE: bool = false;
            fn data_type() -> DataType {
                DataType::Utf8
            }
            fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef {
                Arc::new(StringArray::from_iter_values(rows.iter().map(|r| cell(r).to_string())))
            }
        }
        impl Cell for Option<$type> {
            const NULLABLE: bool = true;
            fn data_type() -> DataType {
                DataType::Utf8
            }
            fn column<R>(rows: &[R], cell: impl Fn(&R) -> &Self) -> ArrayRef {
                Arc::new(
                    rows.iter()
                        .map(|r| cell(r).as_ref().map(ToString::to_string))
                        .collect::<StringArray>(),
                )
            }
        }
    };
}

text_cell!(String);
text_cell!(&'static str);
text_cell!(crate::address::Address);

/// Defines row structs and their tables. The doc comments become the columns'
/// descriptions (Arrow field metadata `description`), so that the meaning of a
/// column is written once.
macro_rules! tables {
    ($(
        $(#[doc = $table_doc:literal])+
        $table:ident: $row:ident {
            $( $(#[doc = $doc:literal])+ $field:ident: $type:ty, )+
        }
    )+) => {
        $(
            $(#[doc = $table_doc])+
            #[derive(Clone, Debug, Default, PartialEq)]
            pub struct $row {
                $( $(#[doc = $doc])+ pub $field: $type, )+
            }

            impl $row {
                pub const TABLE: &'static str = stringify!($table);

                pub fn schema() -> SchemaRef {
                    // Made once: each column's takes several allocations.
                    static SCHEMA: LazyLock<SchemaRef> = LazyLock::new($row::new_schema);
                    Arc::clone(&SCHEMA)
                }

                fn new_schema() -> SchemaRef {
                    let fields: Vec<Field> = vec![$(
                        describe(
                            Field::new(
                                stringify!($field),
                                <$type as Cell>::data_type(),
                                <$type as Cell>::NULLABLE,
                            ),
                            &[$($doc),+],
                        ),
                    )+];
                    let metadata = HashMap::from([
                        ("table".to_string(), stringify!($table).to_string()),
                        ("description".to_string(), sentence(&[$($table_doc),+])),
                    ]);
                    Arc::new(Schema::new_with_metadata(fields, metadata))
                }

                pub fn batch(rows: &[$row]) -> RecordBatch {
                    let columns: Vec<ArrayRef> = vec![$(
                        <$type as Cell>::column(rows, |row: &$row| &row.$field),
                    )+];
                    RecordBatch::try_new(Self::schema(), columns)
                        .expect("columns are made from the schema's own types")
                }
            }
        )+
    };
}

pub(super) use tables;
