module lock-torture/template

go 1.24
