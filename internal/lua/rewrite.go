package lua

import "github.com/yuin/gopher-lua/ast"

// The helpers, as locals of every chunk. No script can use or change them: a name has no brackets.
const (
	concatName = "(concat)" // texts put together
	tableName  = "(table)"  // a new table
	storeName  = "(store)"  // object[key] = value
	indexName  = "(index)"  // a key of a table that is made or assigned to along with others
)

func helperNames() []string { return []string{concatName, tableName, storeName, indexName} }

// rewrite replaces what makes texts and tables grow by calls of the helpers.
func rewrite(stmts []ast.Stmt) {
	for i, stmt := range stmts {
		switch s := stmt.(type) {
		case *ast.AssignStmt:
			stmts[i] = assignment(s)
		case *ast.LocalAssignStmt:
			expressions(s.Exprs)
		case *ast.FuncCallStmt:
			s.Expr = expression(s.Expr)
		case *ast.DoBlockStmt:
			rewrite(s.Stmts)
		case *ast.WhileStmt:
			s.Condition = expression(s.Condition)
			rewrite(s.Stmts)
		case *ast.RepeatStmt:
			s.Condition = expression(s.Condition)
			rewrite(s.Stmts)
		case *ast.IfStmt:
			s.Condition = expression(s.Condition)
			rewrite(s.Then)
			rewrite(s.Else)
		case *ast.NumberForStmt:
			s.Init, s.Limit, s.Step = expression(s.Init), expression(s.Limit), expression(s.Step)
			rewrite(s.Stmts)
		case *ast.GenericForStmt:
			expressions(s.Exprs)
			rewrite(s.Stmts)
		case *ast.FuncDefStmt:
			rewrite(s.Func.Stmts)
		case *ast.ReturnStmt:
			expressions(s.Exprs)
		}
	}
}

// assignment makes a call of object[key] = value. Of several at once, only the keys are checked.
func assignment(s *ast.AssignStmt) ast.Stmt {
	expressions(s.Rhs)
	for i, lhs := range s.Lhs {
		target, ok := lhs.(*ast.AttrGetExpr)
		if !ok {
			continue
		}
		target.Object, target.Key = expression(target.Object), expression(target.Key)
		if _, named := target.Key.(*ast.StringExpr); named {
			continue
		}
		if len(s.Lhs) > 1 || len(s.Rhs) > 1 {
			s.Lhs[i] = target
			target.Key = call(indexName, target, target.Key)
			continue
		}
		store := &ast.FuncCallStmt{Expr: call(storeName, target, target.Object, target.Key, s.Rhs[0])}
		store.SetLine(s.Line())
		store.SetLastLine(s.LastLine())
		return store
	}
	return s
}

func expressions(exprs []ast.Expr) {
	for i := range exprs {
		exprs[i] = expression(exprs[i])
	}
}

func expression(expr ast.Expr) ast.Expr {
	switch e := expr.(type) {
	case *ast.StringConcatOpExpr:
		return call(concatName, e, operands(e)...)
	case *ast.TableExpr:
		return newTable(e)
	case *ast.AttrGetExpr:
		e.Object, e.Key = expression(e.Object), expression(e.Key)
	case *ast.FuncCallExpr:
		e.Func, e.Receiver = expression(e.Func), expression(e.Receiver)
		expressions(e.Args)
	case *ast.LogicalOpExpr:
		e.Lhs, e.Rhs = expression(e.Lhs), expression(e.Rhs)
	case *ast.RelationalOpExpr:
		e.Lhs, e.Rhs = expression(e.Lhs), expression(e.Rhs)
	case *ast.ArithmeticOpExpr:
		e.Lhs, e.Rhs = expression(e.Lhs), expression(e.Rhs)
	case *ast.UnaryMinusOpExpr:
		e.Expr = expression(e.Expr)
	case *ast.UnaryNotOpExpr:
		e.Expr = expression(e.Expr)
	case *ast.UnaryLenOpExpr:
		e.Expr = expression(e.Expr)
	case *ast.FunctionExpr:
		rewrite(e.Stmts)
	}
	return expr
}

// operands are those of a .. b .. c, which associates to the right.
func operands(e *ast.StringConcatOpExpr) []ast.Expr {
	var all []ast.Expr
	for {
		all = append(all, expression(e.Lhs))
		next, more := e.Rhs.(*ast.StringConcatOpExpr)
		if !more {
			return append(all, expression(e.Rhs))
		}
		e = next
	}
}

func newTable(e *ast.TableExpr) ast.Expr {
	for _, field := range e.Fields {
		field.Value = expression(field.Value)
		if field.Key == nil {
			continue
		}
		field.Key = expression(field.Key)
		if _, named := field.Key.(*ast.StringExpr); !named {
			field.Key = call(indexName, e, field.Key)
		}
	}
	return call(tableName, e, e)
}

// call calls a helper instead of an expression. Each argument gives one value, and so does the call.
func call(helper string, at ast.Expr, args ...ast.Expr) ast.Expr {
	for _, arg := range args {
		switch a := arg.(type) {
		case *ast.FuncCallExpr:
			a.AdjustRet = true
		case *ast.Comma3Expr:
			a.AdjustRet = true
		}
	}
	function := &ast.IdentExpr{Value: helper}
	c := &ast.FuncCallExpr{Func: function, Args: args, AdjustRet: true}
	for _, node := range []ast.PositionHolder{function, c} {
		node.SetLine(at.Line())
		node.SetLastLine(max(at.Line(), at.LastLine()))
	}
	return c
}
