// Checks the types of a Go program against the sources of its packages, which is much faster than compiling them.
package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"log"
	"os"
)

func main() {
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, os.Args[1], nil, 0)
	if err != nil {
		log.Fatal(err)
	}
	config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	if _, err = config.Check("main", files, []*ast.File{file}, nil); err != nil {
		log.Fatal(err)
	}
}
