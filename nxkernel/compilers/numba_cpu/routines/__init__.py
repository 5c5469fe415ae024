"""Operations that are no loop nest, such as sorting and scans: which kernels run, and what these do."""
